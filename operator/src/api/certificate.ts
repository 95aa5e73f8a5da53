import { isIP } from "node:net"
import { z } from "zod"
import { parseGoDuration } from "../go-duration.ts"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { type Rule, ruled } from "./rules.ts"
import { atLeast, duration, instant, mountPath, named, roleName, stringMap, texts } from "./descriptions.ts"

const maxNames = 100
const maxWindows = 16
const maxWorkloads = 16

/** Key usages of RFC 5280, and the extended key usages that have a name. */
const usages = [
  "digitalSignature",
  "contentCommitment",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "encipherOnly",
  "decipherOnly",
  "serverAuth",
  "clientAuth",
  "codeSigning",
  "emailProtection",
  "timeStamping",
  "ocspSigning",
  "ipsecEndSystem",
  "ipsecTunnel",
  "ipsecUser",
] as const

const issuerRef = z
  .object({
    group: z.enum(["chancery.dev"]).default("chancery.dev").describe("The API group of the issuer."),
    kind: z
      .enum(["Issuer", "ClusterIssuer"])
      .default("Issuer")
      .describe("Issuer for one of the same namespace, ClusterIssuer for one of the whole cluster."),
    name: named("The name of the issuer."),
  })
  .describe("Who issues the certificate. Another issuer issues it anew.")

const otherName = z.object({
  oid: z
    .string()
    .min(3)
    .max(128)
    .regex(/^[0-2](\.(0|[1-9][0-9]*))+$/)
    .describe("What the name is, as a dotted object identifier."),
  utf8Value: z.string().min(1).max(256).describe("The name itself."),
})

const renewalWindow = z.object({
  cron: z
    .string()
    .min(9)
    .max(128)
    .describe("When the window opens: minute, hour, day of the month, month, day of the week."),
  duration: duration("For how long it is open; at least 1m.", atLeast("duration of a renewal window", "1m")),
  timezone: z.string().min(1).max(64).default("UTC").describe("Whose clock it is, such as Europe/Zurich."),
})

const sizes = { RSA: [2048, 3072, 4096, 8192], ECDSA: [224, 256, 384, 521], Ed25519: [] as number[] }

const privateKey = ruled(
  z.object({
    algorithm: z.enum(["RSA", "ECDSA", "Ed25519"]).default("ECDSA").describe("The kind of the key."),
    size: z
      .int()
      .min(224)
      .max(8_192)
      .optional()
      .describe(
        "Bits: 2048 (unless given), 3072, 4096 or 8192 for RSA; 224, 256 (unless given), 384 or 521 for ECDSA.",
      ),
    encoding: z.enum(["PKCS1", "PKCS8"]).default("PKCS8").describe("The form of tls.key. PKCS1 is SEC 1 for ECDSA."),
    rotationPolicy: z
      .enum(["Always", "Never"])
      .default("Always")
      .describe("Whether every certificate has a key of its own; with Never one is made only where none fits."),
  }),
  {
    rule: "!has(self.size) || (self.algorithm == 'RSA' ? self.size in [2048, 3072, 4096, 8192] : self.algorithm == 'ECDSA' && self.size in [224, 256, 384, 521])",
    message: "size must be 2048, 3072, 4096 or 8192 for RSA, 224, 256, 384 or 521 for ECDSA, and absent for Ed25519",
    fieldPath: ".size",
    holds: ({ algorithm, size }) => size === undefined || sizes[algorithm].includes(size),
  },
  {
    rule: "self.algorithm != 'Ed25519' || self.encoding == 'PKCS8'",
    message: "encoding must be PKCS8 for Ed25519, which has no other",
    fieldPath: ".encoding",
    holds: ({ algorithm, encoding }) => algorithm !== "Ed25519" || encoding === "PKCS8",
  },
)

const outputFormat = ruled(
  z.object({
    type: z
      .enum(["DER", "CombinedPEM", "PKCS12", "FullChain"])
      .describe(
        "DER: key.der. CombinedPEM: tls-combined.pem, key and chain. PKCS12: keystore.p12 and truststore.p12. FullChain: fullchain.pem, the chain and the root.",
      ),
    password: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[ -~]+$/)
      .optional()
      .describe("Of the stores; changeit unless given. It protects nothing, as the key lies beside them."),
  }),
  {
    rule: "!has(self.password) || self.type == 'PKCS12'",
    message: "password is for PKCS12 only",
    fieldPath: ".password",
    holds: ({ type, password }) => password === undefined || type === "PKCS12",
  },
)

const workload = z.object({
  kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]).describe("The kind of the workload, in the group apps."),
  name: named("The name of the workload, in the same namespace."),
})

const secretTemplate = ruled(
  z
    .object({
      labels: stringMap(63, 64, "Labels of the Secret.").optional(),
      annotations: stringMap(4_096, 64, "Annotations of the Secret.").optional(),
    })
    .describe("What the Secret has besides."),
  {
    rule: "!has(self.labels) || self.labels.all(k, !k.contains('chancery.dev/') && k != 'app.kubernetes.io/managed-by')",
    message: "labels must not be the operator's own: chancery.dev/ and app.kubernetes.io/managed-by",
    fieldPath: ".labels",
    holds: ({ labels = {} }) =>
      Object.keys(labels).every((key) => !key.includes("chancery.dev/") && key !== "app.kubernetes.io/managed-by"),
  },
  {
    rule: "!has(self.annotations) || self.annotations.all(k, !k.contains('chancery.dev/'))",
    message: "annotations must not be the operator's own: chancery.dev/",
    fieldPath: ".annotations",
    holds: ({ annotations = {} }) => Object.keys(annotations).every((key) => !key.includes("chancery.dev/")),
  },
)

const members = z
  .object({
    secretName: named(
      "The Secret that key and certificate are put in, in the same namespace. When the name changes, a Secret of the former name stays as it is until it or the Certificate is deleted.",
    ),
    secretAdoption: z
      .enum(["Never", "Force"])
      .default("Never")
      .describe("Whether a Secret that is there already, and no Certificate's, is taken over and overwritten."),
    issuerRef,
    role: roleName
      .optional()
      .describe(
        "The CertificateRole of this namespace, or else the role of the engine, that the certificate is issued under; the issuer's defaultRole unless given.",
      ),
    commonName: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        "The common name of the subject. None unless given; if the role requires one, the first of the other names that is not longer than 64 characters.",
      ),
    dnsNames: texts(
      253,
      maxNames,
      "Host names, and wildcards such as *.example.com. Internationalized names become A-labels (xn--).",
    ).optional(),
    ipAddresses: texts(45, maxNames, "IPv4 and IPv6 addresses.", {
      rule: "self.all(x, isIP(x))",
      message: "ipAddresses must be IPv4 or IPv6 addresses",
      holds: (texts) => texts.every((text) => isIP(text) !== 0),
    }).optional(),
    uris: texts(512, maxNames, "URIs, such as spiffe://example.com/web.", {
      rule: "self.all(x, isURL(x) && x.matches('^[!-~]+$'))",
      message: "uris must be URIs with a scheme, in ASCII; percent-encode other characters",
      holds: (texts) => texts.every((text) => URL.canParse(text) && /^[!-~]+$/.test(text)),
    }).optional(),
    emailAddresses: texts(254, maxNames, "E-mail addresses.", {
      rule: "self.all(x, x.matches('^[!-~]+@.'))",
      message: "emailAddresses must be ASCII before the @, with a domain after it",
      holds: (texts) => texts.every((text) => /^[!-~]+@./.test(text)),
    }).optional(),
    userIDs: texts(256, 10, "User ids (UID) of the subject.").optional(),
    otherNames: z
      .array(otherName)
      .min(1)
      .max(20)
      .optional()
      .describe("Other names that are text, such as a user principal name.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    duration: duration(
      "Lifetime of the certificate, such as 2160h. Default: the role's ttl. Cut to the role's max_ttl. A change applies to the next certificate.",
    ).optional(),
    notAfter: instant(
      "Until when the certificate is to be valid, in place of duration. A change counts from the next certificate on.",
    ).optional(),
    renewBefore: duration(
      "How long before its end the certificate is renewed, at least 5m; a third of its life unless given.",
      atLeast("renewBefore", "5m"),
    ).optional(),
    renewBeforePercentage: z
      .int()
      .min(1)
      .max(99)
      .optional()
      .describe("The same as a share of its life in percent, in place of renewBefore."),
    renewalPolicy: z
      .enum(["Auto", "Disabled"])
      .default("Auto")
      .describe("Whether the certificate is renewed before its end, or left to it."),
    renewalWindows: z
      .array(renewalWindow)
      .min(1)
      .max(maxWindows)
      .optional()
      .describe("When renewals may be. Where none opens early enough the certificate is renewed outside of them.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    privateKey: privateKey
      // All members are listed, because rules see the object before the defaults of its members are filled in.
      .prefault({ algorithm: "ECDSA", encoding: "PKCS8", rotationPolicy: "Always" })
      .describe("The key that the certificate is for."),
    keySource: z
      .enum(["Operator", "Engine"])
      .default("Operator")
      .describe(
        "Who makes the key: the operator, so that the engine never sees it, or the engine, which makes what the role says.",
      ),
    usages: z
      .array(z.enum(usages))
      .min(1)
      .max(usages.length)
      .optional()
      .describe(
        "What the key must be usable for. The role decides; a certificate that lacks one of these is not taken.",
      )
      .meta({ "x-kubernetes-list-type": "set" }),
    excludeCNFromSANs: z
      .boolean()
      .default(false)
      .describe("Whether the common name stays out of the alternative names."),
    removeRootsFromChain: z.boolean().default(false).describe("Whether ca.crt and fullchain.pem end below the root."),
    secretTemplate: secretTemplate.optional(),
    additionalOutputFormats: z
      .array(outputFormat)
      .min(1)
      .max(4)
      .optional()
      .describe("Other forms in which the Secret holds key and certificate.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
    trust: z
      .object({
        publishTo: z
          .object({ configMapName: named("The ConfigMap, in the same namespace; the certificates are under ca.crt.") })
          .describe("Where it stands whom to trust."),
        overlap: duration(
          "For how long an authority stays there once another has taken its place, at least 1m. After half of it the certificate is issued anew.",
          atLeast("overlap", "1m"),
        ).default("24h"),
      })
      .optional()
      .describe(
        "Publishes whom to trust for verifying the certificate: while the authority changes, the old one and the new one.",
      ),
    rolloutRestart: z
      .array(workload)
      .min(1)
      .max(maxWorkloads)
      .optional()
      .describe("Workloads that are restarted after every renewal.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["kind", "name"] }),
    revisionHistoryLimit: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe("How many earlier certificates are kept in status.history."),
    secretDeletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Delete")
      .describe("What becomes of the Secret when the Certificate is deleted."),
    revocationPolicy: z
      .object({
        onDelete: z.boolean().default(false).describe("Whether deleting the Certificate revokes its certificate."),
        onRotation: z
          .boolean()
          .default(false)
          .describe("Whether a certificate is revoked as soon as another has taken its place."),
      })
      .prefault({})
      .describe("When certificates are revoked."),
  })
  .describe("What the certificate is to say, who issues it, and where it is put.")

export type CertificateSpec = z.output<typeof members>

const rules: readonly Rule<CertificateSpec>[] = [
  {
    rule: "has(self.commonName) || has(self.dnsNames) || has(self.ipAddresses) || has(self.uris) || has(self.emailAddresses) || has(self.userIDs) || has(self.otherNames)",
    message: "one of commonName, dnsNames, ipAddresses, uris, emailAddresses, userIDs and otherNames must be given",
    holds: (spec) =>
      [
        spec.commonName,
        spec.dnsNames,
        spec.ipAddresses,
        spec.uris,
        spec.emailAddresses,
        spec.userIDs,
        spec.otherNames,
      ].some((names) => names !== undefined),
  },
  {
    rule: "!(has(self.duration) && has(self.notAfter))",
    message: "duration and notAfter exclude each other",
    fieldPath: ".notAfter",
    holds: ({ duration, notAfter }) => duration === undefined || notAfter === undefined,
  },
  {
    rule: "!(has(self.renewBefore) && has(self.renewBeforePercentage))",
    message: "renewBefore and renewBeforePercentage exclude each other",
    fieldPath: ".renewBeforePercentage",
    holds: ({ renewBefore, renewBeforePercentage }) => renewBefore === undefined || renewBeforePercentage === undefined,
  },
  {
    rule: "!has(self.renewBefore) || !has(self.duration) || duration(self.renewBefore) < duration(self.duration)",
    message: "renewBefore must be less than duration",
    fieldPath: ".renewBefore",
    holds: ({ renewBefore, duration }) =>
      renewBefore === undefined ||
      duration === undefined ||
      (parseGoDuration(renewBefore) ?? 0) < (parseGoDuration(duration) ?? 0),
  },
  {
    rule: "self.keySource != 'Engine' || self.privateKey.rotationPolicy == 'Always'",
    message: "privateKey.rotationPolicy must be Always where keySource is Engine, which makes a key each time",
    fieldPath: ".privateKey.rotationPolicy",
    holds: ({ keySource, privateKey }) => keySource !== "Engine" || privateKey.rotationPolicy === "Always",
  },
]

const time = (description: string) => z.string().max(64).optional().describe(description).meta({ format: "date-time" })

const status = {
  serialNumber: z.string().max(64).optional().describe("Of the certificate in the Secret."),
  notBefore: time("From when it is valid."),
  notAfter: time("Until when it is valid."),
  renewalTime: time("When it is renewed."),
  revision: z.int().min(0).optional().describe("How many certificates there have been."),
  failedIssuanceAttempts: z
    .int()
    .min(0)
    .optional()
    .describe("How many attempts in a row have failed; absent after one that has not."),
  lastFailureTime: time("When the last one of these failed."),
  lastHandledRenewAt: z
    .string()
    .max(1_024)
    .optional()
    .describe("The last value of chancery.dev/renew-requested-at that a certificate was issued for."),
  lastTriedRenewAt: z
    .string()
    .max(1_024)
    .optional()
    .describe("The last value of chancery.dev/renew-requested-at for which issuing has failed."),
  history: z
    .array(
      z.object({
        serialNumber: z.string().max(64).describe("Of an earlier certificate."),
        notAfter: z.string().max(64).describe("Until when it is valid.").meta({ format: "date-time" }),
        revokedAt: time("When it was revoked."),
        discarded: z
          .boolean()
          .optional()
          .describe(
            "True for a certificate that was issued and never used; it is revoked whatever revocationPolicy is.",
          ),
      }),
    )
    .max(200)
    .optional()
    .describe("Earlier certificates, the latest first.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  issuedBy: z
    .object({ connectionRef, mount: mountPath })
    .optional()
    .describe("The connection and the mount that issued the certificate; it is revoked there when the issuer is gone."),
}

export const certificate: Kind<CertificateSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Certificate",
  plural: "certificates",
  singular: "certificate",
  shortNames: ["ecrt"],
  categories: ["engine-pki"],
  scope: "Namespaced",
  description: "Certificate is a key and a certificate of an engine in a Secret, renewed in time.",
  spec: ruled(members, ...rules),
  status,
  columns: [
    { name: "Secret", type: "string", jsonPath: ".spec.secretName", description: "Where key and certificate are." },
    { name: "Issuer", type: "string", jsonPath: ".spec.issuerRef.name", description: "Who issues." },
    {
      name: "Expires",
      // Not `date`: kubectl prints `<invalid>` for dates in the future.
      type: "string",
      jsonPath: ".status.notAfter",
      description: "Until when it is valid.",
    },
    {
      name: "Renews",
      type: "string",
      jsonPath: ".status.renewalTime",
      description: "When it is renewed.",
      priority: 1,
    },
    {
      name: "Serial",
      type: "string",
      jsonPath: ".status.serialNumber",
      description: "Its serial number.",
      priority: 1,
    },
  ],
  selectable: [".spec.secretName", ".spec.issuerRef.name", ".spec.issuerRef.kind"],
}

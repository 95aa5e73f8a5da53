import { z } from "zod"
import type { Kind } from "./definition.ts"
import { rules } from "./definition.ts"
import { duration, instant, objectName, stringMap, texts } from "./words.ts"

const lists = {
  names: 100,
  windows: 16,
  workloads: 16,
}

/** Names of RFC 5280, and of the extended usages that have one. */
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
    group: z.literal("chancery.dev").default("chancery.dev").describe("The API group of the issuer."),
    kind: z
      .enum(["Issuer", "ClusterIssuer"])
      .default("Issuer")
      .describe("Issuer, of the same namespace, or ClusterIssuer."),
    name: objectName("The name of the issuer."),
  })
  .describe("Who issues the certificate. Another issuer has it issued anew.")

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
  duration: duration("For how long it is open; at least 1m.", {
    rule: "duration(self) >= duration('1m')",
    message: "duration of a renewal window must be at least 1m",
  }),
  timezone: z.string().min(1).max(64).default("UTC").describe("Where the clock stands, such as Europe/Zurich."),
})

const privateKey = z
  .object({
    algorithm: z.enum(["RSA", "ECDSA", "Ed25519"]).default("ECDSA").describe("The kind of the key."),
    size: z
      .int()
      .min(224)
      .max(8_192)
      .optional()
      .describe("Bits: 2048 (unless given), 3072, 4096 or 8192 of RSA; 224, 256 (unless given), 384 or 521 of ECDSA."),
    encoding: z.enum(["PKCS1", "PKCS8"]).default("PKCS8").describe("The form of tls.key; PKCS1 is SEC 1 for ECDSA."),
    rotationPolicy: z
      .enum(["Always", "Never"])
      .default("Always")
      .describe("Whether each certificate has a new key; with Never a key is made only where there is no fitting one."),
  })
  .describe("The key that the certificate is for.")
  .meta(
    rules(
      {
        rule: "!has(self.size) || (self.algorithm == 'RSA' ? self.size in [2048, 3072, 4096, 8192] : self.algorithm == 'ECDSA' && self.size in [224, 256, 384, 521])",
        message:
          "size must be 2048, 3072, 4096 or 8192 for RSA, 224, 256, 384 or 521 for ECDSA, and absent for Ed25519",
      },
      {
        rule: "self.algorithm != 'Ed25519' || self.encoding == 'PKCS8'",
        message: "encoding must be PKCS8 for Ed25519, which has no other",
      },
    ),
  )

const outputFormat = z
  .object({
    type: z
      .enum(["DER", "CombinedPEM", "PKCS12", "FullChain"])
      .describe(
        "DER: key.der. CombinedPEM: tls-combined.pem, the key and the chain. PKCS12: keystore.p12 and truststore.p12. FullChain: fullchain.pem, with the root.",
      ),
    password: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[ -~]+$/)
      .optional()
      .describe("Of key store and trust store; changeit unless given. It protects nothing: the key lies beside them."),
  })
  .meta(rules({ rule: "!has(self.password) || self.type == 'PKCS12'", message: "password is for PKCS12 only" }))

const workload = z.object({
  kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]).describe("The kind of the workload, of the group apps."),
  name: objectName("The name of the workload, in the same namespace."),
})

const spec = z
  .object({
    secretName: objectName(
      "The Secret that holds the key and the certificate, in the same namespace. It cannot be changed.",
    ).meta(rules({ rule: "self == oldSelf", message: "secretName cannot be changed; make another Certificate" })),
    secretAdoption: z
      .enum(["Never", "Force"])
      .default("Never")
      .describe("Whether a Secret that is there already, and no Certificate's, is taken over and overwritten."),
    issuerRef,
    role: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/)
      .optional()
      .describe(
        "The CertificateRole of this namespace, or else the engine's role, that the certificate is issued under; the issuer's defaultRole unless given.",
      ),
    commonName: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("The common name of the subject; the first of the other names unless given."),
    dnsNames: texts(253, "Host names, *.example.com among them.", lists.names).optional(),
    ipAddresses: texts(45, "IPv4 and IPv6 addresses.", lists.names, {
      rule: "self.all(x, isIP(x))",
      message: "ipAddresses must be IPv4 or IPv6 addresses",
    }).optional(),
    uris: texts(512, "URIs, such as spiffe://example.com/web.", lists.names, {
      rule: "self.all(x, isURL(x))",
      message: "uris must be URIs with a scheme",
    }).optional(),
    emailAddresses: texts(254, "E-mail addresses.", lists.names, {
      rule: "self.all(x, x.contains('@'))",
      message: "emailAddresses must have an @",
    }).optional(),
    userIDs: texts(256, "User ids (UID) of the subject.", 10).optional(),
    otherNames: z
      .array(otherName)
      .min(1)
      .max(20)
      .optional()
      .describe("Other names that are text, such as a user principal name.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    duration: duration(
      "How long the certificate is to be valid, such as 2160h; the role's ttl unless given. Counts from the next issuance on.",
    ).optional(),
    notAfter: instant(
      "Until when the certificate is to be valid; not together with duration. Counts from the next issuance on.",
    ).optional(),
    renewBefore: duration(
      "How long before its end the certificate is renewed: at least 5m, less than duration; a third of its life unless given.",
      { rule: "duration(self) >= duration('5m')", message: "renewBefore must be at least 5m" },
    ).optional(),
    renewBeforePercentage: z
      .int()
      .min(1)
      .max(99)
      .optional()
      .describe("The same as a share of its life in percent; not together with renewBefore."),
    renewalPolicy: z.enum(["Auto", "Disabled"]).default("Auto").describe("Disabled: the certificate is left to end."),
    renewalWindows: z
      .array(renewalWindow)
      .min(1)
      .max(lists.windows)
      .optional()
      .describe("When renewals may be; where none opens early enough the certificate is renewed all the same.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    privateKey: privateKey.prefault({}),
    keySource: z
      .enum(["Operator", "Engine"])
      .default("Operator")
      .describe(
        "Who makes the key: the operator, which sends a request to sign, or the engine, where the role says which key.",
      ),
    usages: z
      .array(z.enum(usages))
      .min(1)
      .max(usages.length)
      .optional()
      .describe("What the key may be used for. The role decides; a certificate that lacks one of these is not taken.")
      .meta({ "x-kubernetes-list-type": "set" }),
    excludeCNFromSANs: z
      .boolean()
      .default(false)
      .describe("Whether the common name stays out of the alternative names."),
    removeRootsFromChain: z.boolean().default(false).describe("Whether ca.crt and fullchain.pem end below the root."),
    secretTemplate: z
      .object({
        labels: stringMap(63, 64, "Labels of the Secret.").optional(),
        annotations: stringMap(4_096, 64, "Annotations of the Secret.").optional(),
      })
      .optional()
      .describe("What the Secret has besides.")
      .meta(
        rules(
          {
            rule: "!has(self.labels) || self.labels.all(k, !k.contains('chancery.dev/') && k != 'app.kubernetes.io/managed-by')",
            message:
              "labels of secretTemplate must not be the operator's own (chancery.dev/…, app.kubernetes.io/managed-by)",
          },
          {
            rule: "!has(self.annotations) || self.annotations.all(k, !k.contains('chancery.dev/'))",
            message: "annotations of secretTemplate must not be the operator's own (chancery.dev/…)",
          },
        ),
      ),
    additionalOutputFormats: z
      .array(outputFormat)
      .min(1)
      .max(4)
      .optional()
      .describe("Other forms that the Secret holds key and certificate in.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
    trust: z
      .object({
        publishTo: z
          .object({ configMapName: objectName("The ConfigMap, in the same namespace; its key is ca.crt.") })
          .describe("Where the certificates are that others verify this one with."),
        overlap: duration(
          "For how long the old root stays there after a new one came; at least 1m. The certificate is issued anew after half of it.",
          {
            rule: "duration(self) >= duration('1m')",
            message: "overlap must be at least 1m",
          },
        ).default("24h"),
      })
      .optional()
      .describe("Publishes whom to trust, the old and the new while the authority changes."),
    rolloutRestart: z
      .array(workload)
      .min(1)
      .max(lists.workloads)
      .optional()
      .describe("Workloads that are restarted after each renewal.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["kind", "name"] }),
    revisionHistoryLimit: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe("How many earlier certificates status.history names."),
    secretDeletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Delete")
      .describe("What becomes of the Secret when the Certificate is deleted."),
    revocationPolicy: z
      .object({
        onDelete: z.boolean().default(false).describe("Whether deleting the Certificate revokes it."),
        onRotation: z
          .boolean()
          .default(false)
          .describe("Whether a certificate is revoked once another took its place."),
      })
      .prefault({})
      .describe("When certificates are revoked."),
  })
  .describe("What the certificate is to say, who issues it, and where it goes.")
  .meta(
    rules(
      {
        rule: "has(self.commonName) || has(self.dnsNames) || has(self.ipAddresses) || has(self.uris) || has(self.emailAddresses) || has(self.userIDs) || has(self.otherNames)",
        message: "one of commonName, dnsNames, ipAddresses, uris, emailAddresses, userIDs and otherNames must be given",
      },
      {
        rule: "!(has(self.duration) && has(self.notAfter))",
        message: "duration and notAfter exclude each other",
      },
      {
        rule: "!(has(self.renewBefore) && has(self.renewBeforePercentage))",
        message: "renewBefore and renewBeforePercentage exclude each other",
      },
      {
        rule: "!has(self.renewBefore) || !has(self.duration) || duration(self.renewBefore) < duration(self.duration)",
        message: "renewBefore must be less than duration",
      },
      {
        rule: "self.keySource != 'Engine' || self.privateKey.rotationPolicy == 'Always'",
        message: "privateKey.rotationPolicy must be Always where keySource is Engine, which makes a key each time",
      },
    ),
  )

export type CertificateSpec = z.output<typeof spec>

export const certificate: Kind<CertificateSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "Certificate",
  plural: "certificates",
  singular: "certificate",
  shortNames: ["ecrt"],
  scope: "Namespaced",
  description: "Certificate is a key and a certificate in a Secret, renewed in time.",
  spec,
  columns: [
    { name: "Secret", type: "string", jsonPath: ".spec.secretName", description: "Where key and certificate are." },
  ],
}

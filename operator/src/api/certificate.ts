import { isIP } from "node:net"
import { z } from "zod"
import { parseGoDuration } from "../go-duration.ts"
import { connectionRef, dataKey } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { keyMembers, keySize } from "./private-key.ts"
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
  "keyCertSign",
  "cRLSign",
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

/** Usages that the engine sets in CA certificates. */
const authorityUsages: readonly string[] = ["digitalSignature", "keyCertSign", "cRLSign"]

const issuerRef = z
  .object({
    group: z.enum(["chancery.dev"]).default("chancery.dev").describe("API group of the issuer. Default: chancery.dev."),
    kind: z
      .enum(["Issuer", "ClusterIssuer"])
      .default("Issuer")
      .describe(
        "Kind of the issuer: Issuer (in the same namespace) or ClusterIssuer (cluster-scoped). Default: Issuer.",
      ),
    name: named("Name of the issuer."),
  })
  .describe("Issuer of the certificate. A change issues another certificate.")

const otherName = z.object({
  oid: z
    .string()
    .min(3)
    .max(128)
    .regex(/^[0-2](\.(0|[1-9][0-9]*))+$/)
    .describe(
      "Type of the name, as a dotted object identifier. Example: 1.3.6.1.4.1.311.20.2.3 (user principal name).",
    ),
  utf8Value: z.string().min(1).max(256).describe("Value of the name, as a UTF8String."),
})

const renewalWindow = z.object({
  cron: z
    .string()
    .min(9)
    .max(128)
    .describe(
      "Opening of the window, in five fields: minute, hour, day of the month, month, day of the week. Example: 0 2 * * 6.",
    ),
  duration: duration("Length of the window, at least 1m. Example: 4h.", atLeast("duration of a renewal window", "1m")),
  timezone: z
    .string()
    .min(1)
    .max(64)
    .default("UTC")
    .describe("Time zone of cron (IANA name). Default: UTC. Example: Europe/Zurich."),
})

const subjectTexts = (maximum: number, attribute: string, example: string) =>
  texts(maximum, 20, `Values of the attribute ${attribute}. Example: ${example}.`).optional()

const subject = z.object({
  organizations: subjectTexts(64, "O (organization)", "Example Corp"),
  organizationalUnits: subjectTexts(64, "OU (organizational unit)", "Shop"),
  countries: texts(2, 20, "Values of the attribute C: country codes of two letters. Example: CH.", {
    rule: "self.all(x, x.matches('^[A-Za-z]{2}$'))",
    message: "countries must be codes of two letters",
    holds: (texts) => texts.every((text) => /^[A-Za-z]{2}$/.test(text)),
  }).optional(),
  localities: subjectTexts(128, "L (locality)", "Bern"),
  provinces: subjectTexts(128, "ST (state or province)", "Bern"),
  streetAddresses: subjectTexts(128, "STREET", "Bundesplatz 3"),
  postalCodes: subjectTexts(40, "postalCode", "3003"),
  serialNumber: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe(
      "Attribute serialNumber of the subject, which is unrelated to the serial number of the certificate. The role must allow it.",
    ),
})

const constraintMembers = ["dnsDomains", "ipRanges", "emailAddresses", "uriDomains"] as const

const subtrees = (action: string) =>
  z
    .object({
      dnsDomains: texts(
        254,
        50,
        `${action} DNS names: the domain and its subdomains, or only subdomains with a leading dot. Example: example.com.`,
      ).optional(),
      ipRanges: texts(50, 50, `${action} IP ranges in CIDR form. Example: 10.0.0.0/8.`, {
        rule: "self.all(x, isCIDR(x))",
        message: "ipRanges must be IPv4 or IPv6 ranges in CIDR form",
        holds: (texts) => texts.every(isCidr),
      }).optional(),
      emailAddresses: texts(
        254,
        50,
        `${action} e-mail addresses: one address, all of a host (example.com), or of all its subdomains (.example.com).`,
      ).optional(),
      uriDomains: texts(
        254,
        50,
        `${action} hosts of URIs: one host, or all subdomains with a leading dot. Example: .example.com.`,
      ).optional(),
    })
    .optional()

function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([0-9a-fA-F.:]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128)
}

const nameConstraints = ruled(
  z.object({
    permitted: subtrees("Permitted").describe(
      "Names that certificates below the authority may have. A kind of name that is not listed stays unrestricted.",
    ),
    excluded: subtrees("Excluded").describe("Names that certificates below the authority must not have."),
  }),
  {
    rule: `[${["permitted", "excluded"].map((list) => `has(self.${list}) && (${constraintMembers.map((member) => `has(self.${list}.${member})`).join(" || ")})`).join(", ")}].exists(x, x)`,
    message: "nameConstraints must list at least one name",
    holds: (constraints) =>
      [constraints.permitted, constraints.excluded].some((list) =>
        constraintMembers.some((member) => list?.[member] !== undefined),
      ),
  },
)

const privateKey = ruled(
  z.object({
    ...keyMembers,
    encoding: z
      .enum(["PKCS1", "PKCS8"])
      .default("PKCS8")
      .describe("Encoding of tls.key: PKCS8, or PKCS1 (SEC 1 for ECDSA). Ed25519 allows only PKCS8. Default: PKCS8."),
    rotationPolicy: z
      .enum(["Always", "Never"])
      .default("Always")
      .describe(
        "Always: each certificate has a new key. Never: the key is reused if it has the algorithm and size of privateKey, and its certificate was not revoked. Default: Always.",
      ),
  }),
  keySize,
  {
    rule: "self.algorithm != 'Ed25519' || self.encoding == 'PKCS8'",
    message: "encoding must be PKCS8 for Ed25519",
    fieldPath: ".encoding",
    holds: ({ algorithm, encoding }) => algorithm !== "Ed25519" || encoding === "PKCS8",
  },
)

const outputFormat = ruled(
  z.object({
    type: z
      .enum(["DER", "CombinedPEM", "PKCS12", "FullChain", "JKS"])
      .describe(
        "Format to add. DER: key.der (PKCS #8). CombinedPEM: tls-combined.pem, key and chain. PKCS12: keystore.p12 and truststore.p12. FullChain: fullchain.pem, chain and root. JKS: keystore.jks and truststore.jks, for programs that cannot read PKCS12.",
      ),
    password: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[ -~]+$/)
      .optional()
      .describe(
        "Password of the keystore and the truststore; only for PKCS12 and JKS. It adds no protection, because the same Secret contains the key without a password. Default: changeit for PKCS12.",
      ),
    passwordSecretRef: z
      .object({
        name: named("Name of the Secret, in the same namespace."),
        key: dataKey.default("password").describe("Key of the password in the Secret. Default: password."),
      })
      .optional()
      .describe(
        "Secret with the password, 1 to 128 printable ASCII characters; only for PKCS12 and JKS. After a change of the password, the operator writes both stores again, without another certificate.",
      ),
    alias: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[ -~]+$/)
      .optional()
      .describe(
        "Name of the entry with the key in the keystore; only for PKCS12 and JKS. JKS stores it in lower case. Default: certificate.",
      ),
  }),
  ...(["password", "passwordSecretRef", "alias"] as const).map((member) => ({
    rule: `!has(self.${member}) || self.type in ['PKCS12', 'JKS']`,
    message: `${member} requires type PKCS12 or JKS`,
    fieldPath: `.${member}`,
    holds: (format: { readonly [name in typeof member]?: unknown } & { readonly type: string }) =>
      format[member] === undefined || format.type === "PKCS12" || format.type === "JKS",
  })),
  {
    rule: "!(has(self.password) && has(self.passwordSecretRef))",
    message: "password and passwordSecretRef are mutually exclusive",
    fieldPath: ".passwordSecretRef",
    holds: ({ password, passwordSecretRef }) => password === undefined || passwordSecretRef === undefined,
  },
  {
    rule: "self.type != 'JKS' || has(self.password) || has(self.passwordSecretRef)",
    message: "type JKS requires password or passwordSecretRef",
    fieldPath: ".passwordSecretRef",
    holds: ({ type, password, passwordSecretRef }) =>
      type !== "JKS" || password !== undefined || passwordSecretRef !== undefined,
  },
)

const workload = z.object({
  kind: z
    .enum(["Deployment", "StatefulSet", "DaemonSet"])
    .describe("Kind of the workload, in the API group apps: Deployment, StatefulSet or DaemonSet."),
  name: named("Name of the workload, in the same namespace."),
})

const secretTemplate = ruled(
  z
    .object({
      labels: stringMap(
        63,
        64,
        "Labels to add to the Secret, except chancery.dev/ and app.kubernetes.io/managed-by.",
      ).optional(),
      annotations: stringMap(4_096, 64, "Annotations to add to the Secret, except chancery.dev/.").optional(),
    })
    .describe("Labels and annotations to add to the Secret."),
  {
    rule: "!has(self.labels) || self.labels.all(k, !k.contains('chancery.dev/') && k != 'app.kubernetes.io/managed-by')",
    message:
      "labels must not have the prefix chancery.dev/ or the key app.kubernetes.io/managed-by; the operator uses them",
    fieldPath: ".labels",
    holds: ({ labels = {} }) =>
      Object.keys(labels).every((key) => !key.includes("chancery.dev/") && key !== "app.kubernetes.io/managed-by"),
  },
  {
    rule: "!has(self.annotations) || self.annotations.all(k, !k.contains('chancery.dev/'))",
    message: "annotations must not have the prefix chancery.dev/; the operator uses it",
    fieldPath: ".annotations",
    holds: ({ annotations = {} }) => Object.keys(annotations).every((key) => !key.includes("chancery.dev/")),
  },
)

const members = z
  .object({
    secretName: named(
      "Secret for key and certificate, in the same namespace. After a change of the name, the operator writes the new Secret first. The former Secret stays unchanged and is deleted when its certificate expires, or with revocationPolicy.onRotation, a day after the change if another certificate has replaced its own. With secretDeletionPolicy Retain it is not deleted.",
    ),
    secretAdoption: z
      .enum(["Never", "Force"])
      .default("Never")
      .describe(
        "Behavior if the Secret exists and belongs to no Certificate. Never: the object stalls with SecretNameConflict. Force: the Secret is taken over and overwritten. Default: Never.",
      ),
    issuerRef,
    role: roleName
      .optional()
      .describe(
        "Role of the certificate: a CertificateRole of the same namespace and mount, or else a role of the engine. Default: defaultRole of the issuer.",
      ),
    commonName: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe(
        "Common name of the subject. Default: none, or the first other name of at most 64 characters if the role requires a common name.",
      ),
    csr: z
      .string()
      .min(1)
      .max(65_536)
      .regex(/^\s*-----BEGIN (NEW )?CERTIFICATE REQUEST-----/)
      .optional()
      .describe(
        "CSR (PEM) to sign, whose key stays outside of the cluster. The names are those of the CSR. The Secret is of type Opaque and has tls.crt and ca.crt, but no tls.key. Each renewal signs the CSR again. Can be added or removed only together with a change of secretName.",
      ),
    subject: subject
      .optional()
      .describe(
        "Attributes that the subject of the certificate must have. The role determines the subject, except serialNumber; if it sets other values of one of these attributes, nothing is issued. Attributes that are omitted are as the role sets them.",
      ),
    dnsNames: texts(
      253,
      maxNames,
      "DNS names, including wildcards such as *.example.com. Internationalized names become A-labels (xn--).",
    ).optional(),
    ipAddresses: texts(45, maxNames, "IPv4 and IPv6 addresses. Example: 192.0.2.1.", {
      rule: "self.all(x, isIP(x))",
      message: "ipAddresses must be IPv4 or IPv6 addresses",
      holds: (texts) => texts.every((text) => isIP(text) !== 0),
    }).optional(),
    uris: texts(512, maxNames, "URIs with a scheme, in ASCII. Example: spiffe://example.com/web.", {
      rule: "self.all(x, isURL(x) && x.matches('^[!-~]+$'))",
      message: "uris must be URIs with a scheme, in ASCII; percent-encode other characters",
      holds: (texts) => texts.every((text) => URL.canParse(text) && /^[!-~]+$/.test(text)),
    }).optional(),
    emailAddresses: texts(254, maxNames, "E-mail addresses. Example: ops@example.com.", {
      rule: "self.all(x, x.matches('^[!-~]+@.'))",
      message: "emailAddresses must be ASCII before the @, with a domain after it",
      holds: (texts) => texts.every((text) => /^[!-~]+@./.test(text)),
    }).optional(),
    userIDs: texts(256, 10, "User ids of the subject (attribute UID).").optional(),
    otherNames: z
      .array(otherName)
      .min(1)
      .max(20)
      .optional()
      .describe("Alternative names of type otherName with a UTF8String value, such as a user principal name.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    duration: duration(
      "Lifetime of the certificate, such as 2160h. Default: the role's ttl. Cut to the role's max_ttl. A change applies to the next certificate.",
    ).optional(),
    notAfter: instant(
      "Expiry of the certificate (RFC 3339). Cannot be set together with duration. A change applies to the next certificate. Example: 2030-01-31T08:00:00Z.",
    ).optional(),
    renewBefore: duration(
      "Time before expiry at which the certificate is renewed, at least 5m and less than duration. Default: a third of its lifetime. Example: 720h.",
      atLeast("renewBefore", "5m"),
    ).optional(),
    renewBeforePercentage: z
      .int()
      .min(1)
      .max(99)
      .optional()
      .describe(
        "Time before expiry at which the certificate is renewed, in percent of its lifetime, from 1 to 99. Cannot be set together with renewBefore.",
      ),
    renewalPolicy: z
      .enum(["Auto", "Disabled"])
      .default("Auto")
      .describe(
        "Auto: the certificate is renewed before it expires. Disabled: it expires without renewal. Default: Auto.",
      ),
    renewalWindows: z
      .array(renewalWindow)
      .min(1)
      .max(maxWindows)
      .optional()
      .describe(
        "Windows for renewals. If none opens early enough before expiry, the certificate is renewed outside of them. Default: any time.",
      )
      .meta({ "x-kubernetes-list-type": "atomic" }),
    privateKey: privateKey
      // All members are listed, because rules see the object before the defaults of its members are filled in.
      .prefault({ algorithm: "ECDSA", encoding: "PKCS8", rotationPolicy: "Always" })
      .describe("Private key of the certificate."),
    keySource: z
      .enum(["Operator", "Engine"])
      .default("Operator")
      .describe(
        "Operator: the operator generates the key, and the engine receives only a CSR. Engine: the engine generates the key according to the role. Default: Operator.",
      ),
    usages: z
      .array(z.enum(usages))
      .min(1)
      .max(usages.length)
      .optional()
      .describe(
        "Key usages and extended key usages that the certificate must have. The role determines its usages; a certificate that lacks one of these is not used. Default: no requirement.",
      )
      .meta({ "x-kubernetes-list-type": "set" }),
    isCA: z
      .boolean()
      .default(false)
      .describe(
        "Issue the certificate of a certificate authority: the issuer signs an intermediate below it. No role applies. The issuer must set allowCertificateAuthorities. With privateKey.rotationPolicy Never, certificates of the authority stay valid under its next certificate. Default: false.",
      ),
    maxPathLength: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe(
        "Number of authorities that may follow below this one; 0 allows only certificates that are no authorities. Requires isCA. Default: as many as the issuer allows.",
      ),
    nameConstraints: nameConstraints
      .optional()
      .describe(
        "Restricts the names of all certificates below the authority (RFC 5280, section 4.2.1.10). Requires isCA.",
      ),
    excludeCNFromSANs: z
      .boolean()
      .default(false)
      .describe("Omit the common name from the subject alternative names. Default: false."),
    removeRootsFromChain: z
      .boolean()
      .default(false)
      .describe(
        "Omit the root from ca.crt and fullchain.pem, which then end with the topmost intermediate. Without an intermediate, the root stays. Default: false.",
      ),
    secretTemplate: secretTemplate.optional(),
    additionalOutputFormats: z
      .array(outputFormat)
      .min(1)
      .max(5)
      .optional()
      .describe("Formats of key and certificate to add to the Secret.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
    trust: z
      .object({
        publishTo: z
          .object({
            configMapName: named("ConfigMap to create with the CA certificates under ca.crt, in the same namespace."),
          })
          .describe("Destination of the CA certificates."),
        overlap: duration(
          "Time for which the old CA certificate stays published after a change of the authority, at least 1m. The certificate is issued again after half of this time. Default: 24h.",
          atLeast("overlap", "1m"),
        ).default("24h"),
      })
      .optional()
      .describe(
        "Publishes the CA certificates that verify the certificate: during a change of the authority, both the old and the new one.",
      ),
    rolloutRestart: z
      .array(workload)
      .min(1)
      .max(maxWorkloads)
      .optional()
      .describe("Workloads to restart after each renewal.")
      .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["kind", "name"] }),
    revisionHistoryLimit: z
      .int()
      .min(1)
      .max(100)
      .default(1)
      .describe(
        "Number of earlier certificates in status.history, from 1 to 100. Certificates that wait for revocation do not count. Default: 1.",
      ),
    secretDeletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Delete")
      .describe(
        "Behavior at deletion of the Certificate. Delete: the Secret is deleted. Retain: the Secret stays. Default: Delete.",
      ),
    revocationPolicy: z
      .object({
        onDelete: z
          .boolean()
          .default(false)
          .describe("Revoke the certificate when the Certificate is deleted. Default: false."),
        onRotation: z
          .boolean()
          .default(false)
          .describe("Revoke a certificate as soon as another one has replaced it. Default: false."),
      })
      .prefault({})
      .describe("Events that revoke certificates."),
  })
  .describe("Content of the certificate, its issuer and its Secret.")

export type CertificateSpec = z.output<typeof members>

const authorityRules: readonly Rule<CertificateSpec>[] = [
  ...(["maxPathLength", "nameConstraints"] as const).map((member): Rule<CertificateSpec> => ({
    rule: `!has(self.${member}) || self.isCA`,
    message: `${member} requires isCA`,
    fieldPath: `.${member}`,
    holds: (spec) => spec[member] === undefined || spec.isCA,
  })),
  {
    rule: "!self.isCA || has(self.commonName)",
    message: "isCA requires commonName",
    fieldPath: ".commonName",
    holds: ({ isCA, commonName }) => !isCA || commonName !== undefined,
  },
  {
    rule: "!self.isCA || !has(self.role)",
    message: "role and isCA are mutually exclusive; no role applies to an authority",
    fieldPath: ".role",
    holds: ({ isCA, role }) => !isCA || role === undefined,
  },
  {
    rule: "!self.isCA || self.keySource == 'Operator'",
    message: "keySource must be Operator if isCA is true",
    fieldPath: ".keySource",
    holds: ({ isCA, keySource }) => !isCA || keySource === "Operator",
  },
  {
    rule: "!has(self.usages) || (self.isCA ? self.usages.all(x, x in ['digitalSignature', 'keyCertSign', 'cRLSign']) : !('keyCertSign' in self.usages || 'cRLSign' in self.usages))",
    message:
      "usages of an authority are digitalSignature, keyCertSign and cRLSign; keyCertSign and cRLSign require isCA",
    fieldPath: ".usages",
    holds: ({ isCA, usages = [] }) =>
      isCA
        ? usages.every((usage) => authorityUsages.includes(usage))
        : !usages.includes("keyCertSign") && !usages.includes("cRLSign"),
  },
]

const namesOfSpec = [
  "commonName",
  "dnsNames",
  "ipAddresses",
  "uris",
  "emailAddresses",
  "userIDs",
  "otherNames",
  "subject",
] as const

const requestRules: readonly Rule<CertificateSpec>[] = [
  {
    rule: `!has(self.csr) || !(${namesOfSpec.map((member) => `has(self.${member})`).join(" || ")})`,
    message: `csr and ${namesOfSpec.join(", ")} are mutually exclusive; the names are those of the CSR`,
    fieldPath: ".csr",
    holds: (spec) => spec.csr === undefined || namesOfSpec.every((member) => spec[member] === undefined),
  },
  {
    rule: "!has(self.csr) || (self.keySource == 'Operator' && self.privateKey.algorithm == 'ECDSA' && !has(self.privateKey.size) && self.privateKey.encoding == 'PKCS8' && self.privateKey.rotationPolicy == 'Always')",
    message: "csr and privateKey, keySource are mutually exclusive; the CSR has its own key",
    fieldPath: ".csr",
    holds: ({ csr, keySource, privateKey: { algorithm, size, encoding, rotationPolicy } }) =>
      csr === undefined ||
      (keySource === "Operator" &&
        algorithm === "ECDSA" &&
        size === undefined &&
        encoding === "PKCS8" &&
        rotationPolicy === "Always"),
  },
  {
    rule: "!has(self.csr) || !self.isCA",
    message: "csr and isCA are mutually exclusive",
    fieldPath: ".csr",
    holds: ({ csr, isCA }) => csr === undefined || !isCA,
  },
  {
    rule: "!has(self.csr) || !has(self.additionalOutputFormats) || self.additionalOutputFormats.all(x, x.type == 'FullChain')",
    message: "additionalOutputFormats must be only FullChain if csr is set; the others contain the key",
    fieldPath: ".additionalOutputFormats",
    holds: ({ csr, additionalOutputFormats = [] }) =>
      csr === undefined || additionalOutputFormats.every(({ type }) => type === "FullChain"),
  },
  {
    rule: "has(self.csr) == has(oldSelf.csr) || self.secretName != oldSelf.secretName",
    message: "csr can be added or removed only together with a change of secretName",
    fieldPath: ".csr",
    transition: true,
    holds: (spec, before) =>
      (spec.csr === undefined) === (before.csr === undefined) || spec.secretName !== before.secretName,
  },
]

const rules: readonly Rule<CertificateSpec>[] = [
  ...authorityRules,
  ...requestRules,
  {
    rule: "has(self.csr) || has(self.commonName) || has(self.dnsNames) || has(self.ipAddresses) || has(self.uris) || has(self.emailAddresses) || has(self.userIDs) || has(self.otherNames)",
    message:
      "at least one of commonName, dnsNames, ipAddresses, uris, emailAddresses, userIDs, otherNames, csr is required",
    holds: (spec) =>
      [
        spec.csr,
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
    message: "duration and notAfter are mutually exclusive",
    fieldPath: ".notAfter",
    holds: ({ duration, notAfter }) => duration === undefined || notAfter === undefined,
  },
  {
    rule: "!(has(self.renewBefore) && has(self.renewBeforePercentage))",
    message: "renewBefore and renewBeforePercentage are mutually exclusive",
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
    message: "privateKey.rotationPolicy must be Always if keySource is Engine",
    fieldPath: ".privateKey.rotationPolicy",
    holds: ({ keySource, privateKey }) => keySource !== "Engine" || privateKey.rotationPolicy === "Always",
  },
]

const time = (description: string) => z.string().max(64).optional().describe(description).meta({ format: "date-time" })

const status = {
  serialNumber: z.string().max(64).optional().describe("Serial number of the certificate in the Secret."),
  notBefore: time("Start of validity of the certificate."),
  notAfter: time("Expiry of the certificate."),
  secretName: z.string().max(253).optional().describe("Secret that contained a complete certificate last."),
  formerSecrets: z
    .array(
      z.object({
        name: z.string().max(253).describe("Name of the former Secret."),
        serialNumber: z.string().max(64).describe("Serial number of its certificate."),
        notAfter: z.string().max(64).describe("Expiry of its certificate.").meta({ format: "date-time" }),
        since: z.string().max(64).describe("Time of the change of secretName.").meta({ format: "date-time" }),
      }),
    )
    .max(10)
    .optional()
    .describe("Secrets of earlier values of secretName that still exist, newest first.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  renewalTime: time("Time of the next renewal. Absent with renewalPolicy Disabled."),
  revision: z.int().min(0).optional().describe("Number of certificates that were issued so far."),
  failedIssuanceAttempts: z
    .int()
    .min(0)
    .optional()
    .describe("Number of consecutive failed attempts to issue a certificate. Absent after a success."),
  lastFailureTime: time("Time of the last failed attempt. Absent after a success."),
  lastHandledRenewAt: z
    .string()
    .max(1_024)
    .optional()
    .describe("Last value of the annotation chancery.dev/renew-requested-at for which a certificate was issued."),
  lastTriedRenewAt: z
    .string()
    .max(1_024)
    .optional()
    .describe("Last value of the annotation chancery.dev/renew-requested-at for which issuance failed."),
  lastPacedRenewalTime: time("Start of the last renewal that counted toward renewals.maxPerHour of the issuer."),
  history: z
    .array(
      z.object({
        serialNumber: z.string().max(64).describe("Serial number of the earlier certificate."),
        notAfter: z.string().max(64).describe("Expiry of the earlier certificate.").meta({ format: "date-time" }),
        revokedAt: time("Time of revocation by the operator."),
        discarded: z
          .boolean()
          .optional()
          .describe("True if the certificate was issued and never used. It is revoked whatever revocationPolicy is."),
      }),
    )
    .max(200)
    .optional()
    .describe("Earlier certificates, newest first.")
    .meta({ "x-kubernetes-list-type": "atomic" }),
  issuedBy: z
    .object({ connectionRef, mount: mountPath })
    .optional()
    .describe("Connection and mount that issued the certificate, for revocation after the issuer was deleted."),
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
  description:
    "Certificate is a certificate of a Chancery engine with its key in a Secret. The operator renews it before it expires.",
  spec: ruled(members, ...rules),
  status,
  columns: [
    { name: "Secret", type: "string", jsonPath: ".spec.secretName", description: "Secret with key and certificate." },
    { name: "Issuer", type: "string", jsonPath: ".spec.issuerRef.name", description: "Issuer of the certificate." },
    {
      name: "Expires",
      // Not `date`: kubectl prints `<invalid>` for dates in the future.
      type: "string",
      jsonPath: ".status.notAfter",
      description: "Expiry of the certificate.",
    },
    {
      name: "Renews",
      type: "string",
      jsonPath: ".status.renewalTime",
      description: "Time of the next renewal.",
      priority: 1,
    },
    {
      name: "Serial",
      type: "string",
      jsonPath: ".status.serialNumber",
      description: "Serial number of the certificate.",
      priority: 1,
    },
  ],
  selectable: [".spec.secretName", ".spec.issuerRef.name", ".spec.issuerRef.kind"],
}

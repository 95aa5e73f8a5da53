import { mountSettingsParts, pkiIssuerResource } from "@chancery/engine/declared"
import { z } from "zod"
import { parseGoDuration } from "../go-duration.ts"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { atLeast, duration, mountPath, named, texts } from "./descriptions.ts"
import { manifestMembers } from "./manifest-members.ts"
import { keyMembers, keySize } from "./private-key.ts"
import { immutable, type Rule, ruled } from "./rules.ts"

const values = (description: string) =>
  z
    .array(z.string().min(1).max(128))
    .min(1)
    .max(20)
    .optional()
    .describe(description)
    .meta({ "x-kubernetes-list-type": "atomic" })

const subject = z
  .object({
    organizations: values("Organizations (O)."),
    organizationalUnits: values("Organizational units (OU)."),
    countries: z
      .array(z.string().regex(/^[A-Z]{2}$/))
      .min(1)
      .max(20)
      .optional()
      .describe("Countries (C), as codes of two letters. Example: CH.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
    localities: values("Localities (L)."),
    provinces: values("States or provinces (ST)."),
    streetAddresses: values("Street addresses."),
    postalCodes: values("Postal codes."),
    serialNumber: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("Serial number of the subject, not of the certificate."),
  })
  .describe("Subject in addition to the common name. Immutable.")

const subtrees = (kind: string) =>
  z
    .object({
      dnsDomains: texts(253, 100, `DNS domains that are ${kind}. A leading dot means subdomains only.`).optional(),
      ipRanges: texts(64, 100, `IP ranges (CIDR) that are ${kind}. Example: 10.0.0.0/8.`, {
        rule: "self.all(x, isCIDR(x))",
        message: "ipRanges must be IP ranges such as 10.0.0.0/8",
        holds: (ranges) => ranges.every(isIpRange),
      }).optional(),
      emailAddresses: texts(254, 100, `E-mail addresses or domains that are ${kind}.`).optional(),
      uriDomains: texts(253, 100, `Domains of URIs that are ${kind}.`).optional(),
    })
    .optional()
    .describe(`Names that are ${kind}.`)

const isIpRange = (text: string): boolean => z.union([z.cidrv4(), z.cidrv6()]).safeParse(text).success

const privateKey = ruled(
  z.object({
    ...keyMembers,
    rotationPolicy: z
      .enum(["Always", "Never"])
      .default("Always")
      .describe(
        "Always: each rotation generates a key. Never: rotations issue another certificate for the same key. Default: Always.",
      ),
  }),
  keySize,
)

const { leafNotAfterBehavior } = pkiIssuerResource.members
if (leafNotAfterBehavior === undefined) throw new TypeError("no leafNotAfterBehavior is declared")

const members = z
  .object({
    connectionRef: connectionRef.describe("Connection to the engine of the authority. Immutable."),
    mount: mountPath.describe("Path of the mount that holds the key. Immutable. Example: pki."),
    type: z
      .enum(["Root", "Intermediate"])
      .describe("Root: the authority signs itself. Intermediate: parentRef signs it. Immutable."),
    name: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/)
      .optional()
      .describe(
        "Name of the issuer in the mount. A rotation gives it to the new issuer. Default: the name of the object. Immutable.",
      ),
    parentRef: z
      .object({
        name: named("Name of a CertificateAuthority in the same namespace. It may be in any mount and engine."),
      })
      .optional()
      .describe("Authority that signs. Required with type Intermediate. A change applies to the next rotation."),
    commonName: z.string().min(1).max(64).describe("Common name of the subject. Immutable."),
    subject: subject.optional(),
    privateKey: privateKey
      .prefault({ algorithm: "ECDSA", rotationPolicy: "Always" })
      .describe("Private key of the authority, which stays in the engine. A change applies to the next rotation."),
    duration: duration(
      "Lifetime of the certificate, limited by the mount of its signer, and by its parent. A change applies to the next rotation. Default: defaultLeaseTtl of the mount of the signer. Example: 87600h.",
      atLeast("duration", "1h"),
    ).optional(),
    renewBefore: duration(
      "Time before expiry at which the authority is rotated, at least 5m and less than duration. Default: no rotation. Example: 8760h.",
      atLeast("renewBefore", "5m"),
    ).optional(),
    maxPathLength: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe(
        "Maximum number of intermediates below the authority, from 0 to 100. Immutable. Default: as many as its parent allows.",
      ),
    nameConstraints: z
      .object({ permitted: subtrees("permitted"), excluded: subtrees("excluded") })
      .optional()
      .describe("Names for which the authority and those below it may issue (RFC 5280, section 4.2.1.10). Immutable."),
    crossSign: z
      .boolean()
      .default(false)
      .describe(
        "At a rotation of a root, have the old root sign the new one. The chain then contains this certificate, for clients that trust only the old root. Default: false.",
      ),
    leafNotAfterBehavior: manifestMembers({ leafNotAfterBehavior })["leafNotAfterBehavior"] as z.ZodOptional<
      z.ZodEnum<{ err: "err"; truncate: "truncate"; permit: "permit"; always_enforce_err: "always_enforce_err" }>
    >,
    urls: z
      .object(manifestMembers(mountSettingsParts.urls.members))
      .optional()
      .describe(
        "URLs in certificates of the issuer, in place of those of the mount. Settings that are omitted are not managed.",
      ) as unknown as z.ZodOptional<z.ZodType<Readonly<Record<string, readonly string[] | boolean>>>>,
    isDefault: z
      .boolean()
      .optional()
      .describe(
        "Make it the default issuer of the mount. Otherwise the default issuer changes only if it is rotated. Default: false.",
      ),
    caChainConfigMap: named(
      "ConfigMap to create with the chain of the authority under ca.crt, and with those of earlier issuers as long as they are kept. It is in the namespace of the object.",
    ).optional(),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Retain")
      .describe(
        "Behavior at deletion of the object. Retain: issuers and keys stay in the engine. Delete: they are deleted at once, after which their certificates cannot be revoked. Default: Retain.",
      ),
  })
  .describe("Content, key and rotation of a certificate authority.")

export type CertificateAuthoritySpec = z.output<typeof members>

const rules: readonly Rule<CertificateAuthoritySpec>[] = [
  {
    rule: "(self.type == 'Intermediate') == has(self.parentRef)",
    message: "parentRef is required with type Intermediate, and not allowed with type Root",
    fieldPath: ".parentRef",
    holds: ({ type, parentRef }) => (type === "Intermediate") === (parentRef !== undefined),
  },
  {
    rule: "!self.crossSign || self.type == 'Root'",
    message: "crossSign requires type Root",
    fieldPath: ".crossSign",
    holds: ({ crossSign, type }) => !crossSign || type === "Root",
  },
  {
    rule: "!self.crossSign || self.privateKey.rotationPolicy == 'Always'",
    message: "crossSign requires privateKey.rotationPolicy Always; certificates of one key need no cross-signature",
    fieldPath: ".crossSign",
    holds: ({ crossSign, privateKey }) => !crossSign || privateKey.rotationPolicy === "Always",
  },
  {
    rule: "!self.crossSign || !has(self.maxPathLength) || self.maxPathLength > 0",
    message: "crossSign requires maxPathLength of at least 1, because the old root signs an authority",
    fieldPath: ".maxPathLength",
    holds: ({ crossSign, maxPathLength }) => !crossSign || maxPathLength === undefined || maxPathLength > 0,
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
    rule: "!has(self.name) || self.name != 'default'",
    message: "name must not be default, which means the default issuer of the mount",
    fieldPath: ".name",
    holds: ({ name }) => name !== "default",
  },
]

const time = (description: string) => z.string().max(64).optional().describe(description).meta({ format: "date-time" })

export const certificateAuthority: Kind<CertificateAuthoritySpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "CertificateAuthority",
  plural: "certificateauthorities",
  singular: "certificateauthority",
  shortNames: ["eca"],
  categories: ["engine-pki"],
  scope: "Namespaced",
  description:
    "CertificateAuthority is a root or an intermediate in a mount of a Chancery engine. The operator rotates it before it expires.",
  spec: ruled(
    members as unknown as z.ZodType<CertificateAuthoritySpec>,
    ...immutable<CertificateAuthoritySpec>(
      "connectionRef",
      "mount",
      "type",
      "name",
      "commonName",
      "subject",
      "maxPathLength",
      "nameConstraints",
    ),
    ...rules,
  ),
  objectRules: [
    {
      rule: "has(self.spec.name) || (self.metadata.name != 'default' && self.metadata.name.size() <= 200)",
      message: "spec.name is required if the name of the object is default, or longer than 200 characters",
      fieldPath: ".spec.name",
    },
    {
      rule: "!has(self.spec.parentRef) || self.spec.parentRef.name != self.metadata.name",
      message: "parentRef must name another object",
      fieldPath: ".spec.parentRef",
    },
  ],
  status: {
    issuerID: z.string().max(128).optional().describe("Id of the issuer."),
    issuerName: z.string().max(255).optional().describe("Name of the issuer in the mount."),
    keyID: z.string().max(128).optional().describe("Id of the key."),
    revision: z.int().min(0).optional().describe("Number of the issuer: 1, and one more after each rotation."),
    serialNumber: z.string().max(128).optional().describe("Serial number of the certificate."),
    notAfter: time("Expiry of the certificate."),
    renewalTime: time("Time of the next rotation. Absent without renewBefore."),
    lastHandledRenewAt: z
      .string()
      .max(1_024)
      .optional()
      .describe("Last value of the annotation chancery.dev/renew-requested-at that was followed by a rotation."),
    createPending: z
      .object({
        at: z.string().max(64).describe("Start of the creation.").meta({ format: "date-time" }),
        revision: z.int().min(1).describe("Number of the issuer that is created."),
        renewRequest: z.string().max(1_024).optional().describe("Request for a rotation that is answered by it."),
      })
      .optional()
      .describe("Creation or rotation in progress. After a crash, the operator continues it."),
    caFingerprint: z.string().max(64).optional().describe("SHA-256 of the CA chain (DER), in hexadecimal."),
    caChain: z.string().max(131_072).optional().describe("Chain of the authority (PEM), its own certificate first."),
    predecessors: z
      .array(
        z.object({
          issuerID: z.string().max(128).describe("Id of the earlier issuer."),
          notAfter: z.string().max(64).describe("Expiry of its certificate.").meta({ format: "date-time" }),
        }),
      )
      .max(100)
      .optional()
      .describe("Earlier issuers, which sign revocation lists until the certificates that they issued have expired.")
      .meta({ "x-kubernetes-list-type": "atomic" }),
  },
  synced: true,
  columns: [
    { name: "Mount", type: "string", jsonPath: ".spec.mount", description: "Mount of the authority." },
    { name: "Type", type: "string", jsonPath: ".spec.type", description: "Root or Intermediate." },
    { name: "Expires", type: "string", jsonPath: ".status.notAfter", description: "Expiry of the certificate." },
    {
      name: "Renews",
      type: "string",
      jsonPath: ".status.renewalTime",
      description: "Time of the next rotation.",
      priority: 1,
    },
    {
      name: "Revision",
      type: "integer",
      jsonPath: ".status.revision",
      description: "Number of the issuer.",
      priority: 1,
    },
  ],
  selectable: [".spec.connectionRef.name", ".spec.mount"],
}

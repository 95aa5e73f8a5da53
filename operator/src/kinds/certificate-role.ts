import type { PkiRoleSpec } from "@chancery/engine/declared"
import { z } from "zod"
import { connectionRef } from "./connection-spec.ts"
import type { Kind } from "./definition.ts"
import { immutable, type Rule, ruled } from "./rules.ts"
import { duration, instant, mountPath, roleName, texts } from "./words.ts"

const itemsMaximum = 200

const flag = (description: string) => z.boolean().optional().describe(description)
const list = (maximum: number, description: string) => texts(maximum, itemsMaximum, description).optional()
/** In the order that they stand in the subject. */
const ordered = (maximum: number, description: string) =>
  z
    .array(z.string().min(1).max(maximum))
    .min(1)
    .max(20)
    .optional()
    .describe(description)
    .meta({ "x-kubernetes-list-type": "atomic" })
const bound = (description: string) => z.string().min(1).max(64).optional().describe(description)

const policyIdentifier = z.object({
  oid: z.string().min(3).max(128).describe("The policy, as a dotted object identifier."),
  notice: z.string().max(1_024).optional().describe("What users of the certificate are told."),
  cps: z.string().max(1_024).optional().describe("Where the practice statement is."),
})

/** What is absent is not managed: whatever it is, it stays. */
const rules = {
  ttl: duration("How long certificates are valid that ask for nothing; such as 720h.").optional(),
  maxTtl: duration("How long they may be valid at most.").optional(),
  notBeforeDuration: duration("How long before its issuance a certificate becomes valid.").optional(),
  notBefore: instant("From when all certificates are valid.").optional(),
  notBeforeBound: bound(
    "The earliest notBefore of requests: permit, forbid, duration or an instant. Default of new roles: duration.",
  ),
  notAfter: instant("Until when all certificates are valid.").optional(),
  notAfterBound: bound(
    "The latest notAfter of requests: permit, forbid, ttl-limited or an instant. Default of new roles: ttl-limited.",
  ),
  allowLocalhost: flag("Whether localhost may be asked for."),
  allowedDomains: list(253, "Domains that names may be of, as the next members say."),
  allowedDomainsTemplate: flag("Whether allowedDomains hold templates of whoever asks."),
  allowBareDomains: flag("Whether the domains themselves may be asked for."),
  allowSubdomains: flag("Whether names below the domains may be asked for."),
  allowGlobDomains: flag("Whether the domains are patterns with *."),
  allowWildcardCertificates: flag("Whether names may be wildcards."),
  allowPartialWildcards: flag("Allow a * beside other characters of a label, such as w*.example.com. Default: false."),
  allowAnyName: flag("Whether any name may be asked for."),
  enforceHostnames: flag("Whether names must be those of hosts."),
  allowIpSans: flag("Whether IP addresses may be asked for."),
  allowedIpSansCidr: list(64, "Ranges that IP addresses must be of."),
  allowedUriSans: list(512, "Patterns that URIs must be of."),
  allowedUriSansTemplate: flag("Whether allowedUriSans hold templates of whoever asks."),
  allowGlobsInIdentityTemplates: flag("Whether * in what a template stands for is a pattern."),
  allowedOtherSans: list(512, "Other names that may be asked for: an identifier, ;UTF8: and a pattern."),
  allowedSerialNumbers: list(64, "Patterns that serial numbers of the subject must be of."),
  allowedUserIds: list(256, "User ids that may be asked for."),
  serverFlag: flag("Whether certificates are for servers."),
  clientFlag: flag("Whether they are for clients."),
  codeSigningFlag: flag("Whether they are for signing code."),
  emailProtectionFlag: flag("Whether they are for e-mail."),
  keyUsages: list(64, "What keys may be used for, such as DigitalSignature."),
  extKeyUsages: list(64, "What certificates are for besides, such as ServerAuth."),
  extKeyUsageOids: list(128, "The same as dotted object identifiers."),
  keyType: z.enum(["rsa", "ec", "ed25519", "any"]).optional().describe("The kind of keys."),
  keyBits: z.int().min(0).max(16_384).optional().describe("The size of keys; 0 is the usual one."),
  signatureBits: z.int().min(0).max(512).optional().describe("The size of the hash of signatures; 0 is the usual one."),
  allowedRsaExponents: z
    .array(z.int().min(3).max(2_147_483_647))
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Public exponents that RSA keys in requests may have: odd numbers from 3 to 2147483647. Default: [65537].",
    ),
  usePss: flag("Whether RSA signatures are PSS."),
  useCsrCommonName: flag("Whether the common name of a request counts."),
  useCsrSans: flag("Whether the alternative names of a request count."),
  serialNumberSource: z
    .enum(["json", "json-csr"])
    .optional()
    .describe("Where the serial number of the subject comes from."),
  requireCn: flag("Whether there must be a common name."),
  cnValidations: z
    .array(z.enum(["email", "hostname", "disabled"]))
    .min(1)
    .max(3)
    .optional()
    .describe("What common names must be.")
    .meta({ "x-kubernetes-list-type": "set" }),
  organizationalUnits: ordered(64, "Organizational units (OU) of subjects."),
  organizations: ordered(64, "Organizations (O) of subjects."),
  countries: ordered(2, "Countries (C) of subjects."),
  localities: ordered(128, "Localities (L) of subjects."),
  provinces: ordered(128, "Provinces (ST) of subjects."),
  streetAddresses: ordered(128, "Street addresses of subjects."),
  postalCodes: ordered(40, "Postal codes of subjects."),
  policyIdentifiers: z
    .array(policyIdentifier)
    .min(1)
    .max(20)
    .optional()
    .describe("Policies that certificates are issued under.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["oid"] }),
  basicConstraintsValidForNonCa: flag("Whether certificates say that they are of no authority."),
  issuerRef: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("The authority of the mount that issues: its id, its name, or default."),
  generateLease: flag("Whether certificates come with a lease."),
  noStore: flag("Whether certificates are not kept."),
  noStoreMetadata: flag("Whether nothing is kept with certificates."),
} satisfies Readonly<Record<Exclude<keyof PkiRoleSpec, "mount" | "name">, z.ZodType>>

const members = z
  .object({
    connectionRef: connectionRef.describe("The connection to the engine that the role is in."),
    mount: mountPath,
    name: roleName.optional().describe("The role's name in the engine; that of the object unless given."),
    adoptionPolicy: z
      .enum(["Never", "IfExists", "MustExist"])
      .default("Never")
      .describe("Whether a role of this name that is there already, and says something else, is taken over."),
    driftPolicy: z
      .enum(["Enforce", "Report"])
      .default("Enforce")
      .describe("Whether what differs in the engine is put right, or only told of in status.drift."),
    deletionPolicy: z
      .enum(["Retain", "Delete"])
      .default("Delete")
      .describe("What becomes of the role when the object is deleted."),
    ...rules,
  })
  .describe("What certificates of the role may say.")

export type CertificateRoleSpec = z.output<typeof members>

const leaseNeedsStore: Rule<CertificateRoleSpec> = {
  rule: "!(has(self.generateLease) && self.generateLease && has(self.noStore) && self.noStore)",
  message: "generateLease has no effect with noStore; leave one of them out",
  fieldPath: ".generateLease",
  holds: ({ generateLease, noStore }) => !(generateLease === true && noStore === true),
}

const status = {
  id: z.string().max(512).optional().describe("The role's place in the engine: MOUNT/roles/NAME."),
  name: z.string().max(253).optional().describe("The role's name in the engine."),
  drift: z
    .array(
      z.object({
        field: z.string().max(64).describe("What differs."),
        desired: z.string().max(4_096).optional().describe("What the spec says, as JSON."),
        observed: z.string().max(4_096).optional().describe("What the engine has, as JSON."),
      }),
    )
    .max(100)
    .optional()
    .describe("What differs in the engine, where that is only told of.")
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["field"] }),
}

export const certificateRole: Kind<CertificateRoleSpec> = {
  group: "chancery.dev",
  version: "v1alpha1",
  kind: "CertificateRole",
  plural: "certificateroles",
  singular: "certificaterole",
  shortNames: ["ecrole"],
  scope: "Namespaced",
  description: "CertificateRole is a role of a certificate authority: what certificates issued under it may say.",
  spec: ruled(members, ...immutable<CertificateRoleSpec>("connectionRef", "mount", "name"), leaseNeedsStore),
  status,
  synced: true,
  columns: [
    { name: "Mount", type: "string", jsonPath: ".spec.mount", description: "The authority's mount." },
    {
      name: "Role",
      type: "string",
      jsonPath: ".status.name",
      description: "The role's name in the engine.",
      priority: 1,
    },
  ],
  selectable: [".spec.connectionRef.name", ".spec.mount"],
}

/** The members that are the role's rules, in the words of the engine. */
export const ruleNames = Object.keys(rules) as readonly (keyof typeof rules)[]

// Roles (specification 2.1, pki-facts 1.2). Durations are text in the specification and seconds for existing clients.
import { parseNestedJson } from "../../core/json-bounds.ts"
import { parseInstant, type Instant } from "../../core/time.ts"
import { type PolicyIdentifier, type Role, type RoleInput, roleDefaults } from "../../pki/roles/role.ts"
import type { Dialect } from "./dialect.ts"
import { underscored } from "./member-name.ts"
import {
  type Decoded,
  decodeAnswer,
  type Document,
  duration,
  encodeMembers,
  flag,
  instant,
  integer,
  integers,
  isDocument,
  type Kind,
  parameters,
  text,
  texts,
  type ValuesOf,
} from "./parameters.ts"

/** A word, or an instant in its place. */
const bound: Kind<string | Instant> = {
  decode: (value) => {
    const word = text.decode(value)
    return typeof word === "string" ? (parseInstant(word) ?? word) : word
  },
  encode: (value, dialect) => (typeof value === "number" ? instant.encode(value, dialect) : value),
  expected: "text",
  type: "string",
}

/**
 * A list of object identifiers, of objects with qualifiers, or the JSON text of one. Existing clients decode a list of texts: where
 * one has qualifiers, the text of each is JSON, and it comes back as such.
 */
const policyIdentifiers: Kind<readonly PolicyIdentifier[]> = {
  decode: (value) => {
    const given: unknown =
      typeof value === "string" && value.trimStart().startsWith("[") ? parseNestedJson(value) : value
    const items: unknown = Array.isArray(given) ? given.map(parsedIfObject) : given
    if (!Array.isArray(items) || items.every((item) => typeof item === "string")) {
      const oids = texts.decode(items)
      return Array.isArray(oids) ? oids.map((oid: string) => ({ oid })) : undefined
    }
    const policies = items.map(policyOf)
    return policies.every((policy) => policy !== undefined) ? policies : undefined
  },
  encode: (value, dialect) => {
    if (value.every((policy) => Object.keys(policy).length === 1)) return value.map(({ oid }) => oid)
    return dialect === "vault" ? value.map((policy) => JSON.stringify(policy)) : value
  },
  expected: 'a list of object identifiers, or of objects with "oid", "notice" and "cps"',
  type: "slice",
}

const parsedIfObject = (item: unknown): unknown =>
  typeof item === "string" && item.startsWith("{") ? parseNestedJson(item) : item

function policyOf(item: unknown): PolicyIdentifier | undefined {
  if (typeof item === "string") return { oid: item }
  if (!isDocument(item)) return undefined
  const { oid, notice, cps } = item
  if (typeof oid !== "string") return undefined
  if ((notice !== undefined && typeof notice !== "string") || (cps !== undefined && typeof cps !== "string"))
    return undefined
  // Existing clients send empty text for a qualifier that there is none of.
  return { oid, ...(notice ? { notice } : {}), ...(cps ? { cps } : {}) }
}

const roleKinds = {
  ttlMs: duration,
  maxTtlMs: duration,
  notBeforeDurationMs: duration,
  notBefore: instant,
  notBeforeBound: bound,
  notAfter: instant,
  notAfterBound: bound,
  allowLocalhost: flag,
  allowedDomains: texts,
  allowedDomainsTemplate: flag,
  allowBareDomains: flag,
  allowSubdomains: flag,
  allowGlobDomains: flag,
  allowWildcardCertificates: flag,
  allowPartialWildcards: flag,
  allowAnyName: flag,
  enforceHostnames: flag,
  allowIpSans: flag,
  allowedIpSansCidr: texts,
  allowedUriSans: texts,
  allowedUriSansTemplate: flag,
  allowGlobsInIdentityTemplates: flag,
  allowedOtherSans: texts,
  allowedSerialNumbers: texts,
  allowedUserIds: texts,
  serverFlag: flag,
  clientFlag: flag,
  codeSigningFlag: flag,
  emailProtectionFlag: flag,
  keyUsage: texts,
  extKeyUsage: texts,
  extKeyUsageOids: texts,
  keyType: text,
  keyBits: integer,
  signatureBits: integer,
  allowedRsaExponents: integers,
  usePss: flag,
  useCsrCommonName: flag,
  useCsrSans: flag,
  serialNumberSource: text,
  requireCn: flag,
  cnValidations: texts,
  ou: texts,
  organization: texts,
  country: texts,
  locality: texts,
  province: texts,
  streetAddress: texts,
  postalCode: texts,
  policyIdentifiers,
  basicConstraintsValidForNonCa: flag,
  issuerRef: text,
  generateLease: flag,
  noStore: flag,
  noStoreMetadata: flag,
}

/** Sentences for help and docs/roles.md. */
const roleRules: Readonly<Record<keyof typeof roleKinds, string>> = {
  ttlMs: "Lifetime of certificates whose request has no ttl. 0s: the default of the mount. At most max_ttl.",
  maxTtlMs: "Maximum lifetime. A longer ttl is cut to it, with a warning. 0s: the maximum of the mount.",
  notBeforeDurationMs: "Back-dating of notBefore.",
  notBefore: "notBefore of every certificate. Overrides the request and not_before_duration.",
  notBeforeBound:
    "Earliest not_before of a request: permit (any), duration (now less not_before_duration), forbid, or a time.",
  notAfter: "notAfter of every certificate. Overrides the request and every ttl.",
  notAfterBound:
    "Latest not_after of a request: permit (any), ttl-limited (cut to max_ttl, with a warning), forbid, or a time, which bounds a ttl too.",
  allowLocalhost: "Allow localhost and localdomain.",
  allowedDomains: "Domains that allow_bare_domains, allow_subdomains and allow_glob_domains apply to.",
  allowedDomainsTemplate: "Fill in identity templates in allowed_domains.",
  allowBareDomains: "Allow the entries of allowed_domains themselves.",
  allowSubdomains: "Allow subdomains of the entries of allowed_domains.",
  allowGlobDomains: "Allow names that match an entry of allowed_domains with a *, which stands for any text with dots.",
  allowWildcardCertificates: "Allow names with a wildcard.",
  allowPartialWildcards:
    "Allow a * beside other characters of a label, such as w*.example.com (RFC 9525, section 6.3).",
  allowAnyName: "Allow every well-formed name.",
  enforceHostnames: "Require host names or e-mail addresses.",
  allowIpSans: "Allow IP SANs.",
  allowedIpSansCidr: "CIDR ranges of IP SANs. Empty: any address.",
  allowedUriSans: "Allowed URI SANs. A * stands for any text. Empty: none.",
  allowedUriSansTemplate: "Fill in identity templates in allowed_uri_sans.",
  allowGlobsInIdentityTemplates: "Treat a * in the values of an identity as a wildcard in templates.",
  allowedOtherSans:
    "Allowed other SANs as <oid>;UTF8:<value>. A * stands for any text; the single entry * allows all. Empty: none.",
  allowedSerialNumbers: "Allowed serial numbers in the subject. A * stands for any text. Empty: none.",
  allowedUserIds: "Allowed user ids in the subject. A * stands for any text. Empty: none.",
  serverFlag: "Add the extended key usage serverAuth.",
  clientFlag: "Add the extended key usage clientAuth.",
  codeSigningFlag: "Add the extended key usage codeSigning.",
  emailProtectionFlag: "Add the extended key usage emailProtection.",
  keyUsage: "Key usages, such as DigitalSignature. Unknown names are ignored. Empty: no extension.",
  extKeyUsage: "Extended key usages, such as ServerAuth. Unknown names are ignored.",
  extKeyUsageOids: "Extended key usages as object identifiers.",
  keyType: "Type of keys: rsa, ec, ed25519, or any. With any, requests to issue need key_type.",
  keyBits: "Size of keys: rsa 2048, 3072, 4096 or 8192; ec 224, 256, 384 or 521. 0: 2048 or 256.",
  signatureBits: "Hash of signatures by RSA issuers: 256, 384 or 512. 0: chosen by the key.",
  allowedRsaExponents: "Public exponents of RSA keys in CSRs.",
  usePss: "Sign with PSS if the issuer has an RSA key.",
  useCsrCommonName: "Take the common name of a CSR, if it has one.",
  useCsrSans: "Take the SANs of a CSR and ignore those of the request.",
  serialNumberSource:
    "Source of the serial number in the subject: json (the request), or json-csr (the request, else the CSR).",
  requireCn: "Require a common name.",
  cnValidations: "Allowed forms of the common name: email, hostname, or disabled alone, which skips their checks.",
  ou: "Organizational units (OU) of the subject.",
  organization: "Organizations (O) of the subject.",
  country: "Countries (C) of the subject, as codes of two letters.",
  locality: "Localities (L) of the subject.",
  province: "States or provinces (ST) of the subject.",
  streetAddress: "Street addresses of the subject.",
  postalCode: "Postal codes of the subject.",
  policyIdentifiers: "Certificate policies: object identifiers, or objects with oid, notice and cps.",
  basicConstraintsValidForNonCa: "Add basicConstraints CA:FALSE.",
  issuerRef: "Issuer that signs: name, id or default. Resolved at each use.",
  generateLease: "Make a lease for every stored certificate.",
  noStore: "Do not store certificates. They can be revoked only by presenting the certificate.",
  noStoreMetadata: "Refuse cert_metadata.",
}

const defaults = encodeMembers(parameters(roleKinds), roleDefaults, "native")
const roleNotes = Object.fromEntries(
  Object.entries(roleRules).map(([name, rule]) => [name, { rule, default: defaults[underscored(name)] }]),
)

/** Of requests and of answers alike. */
export const roleParameters = parameters(roleKinds, {}, roleNotes)

/** With the faults of the document, which the rules report together with theirs. */
export const decodeRoleInput = ({ value, faults }: Given): RoleInput => ({ ...value, faults })

/** What is taken away has its default again (RFC 7396). */
export const decodeRolePatch = ({ value, faults, removed }: Given): RoleInput => ({
  ...Object.fromEntries(removed.map((name) => [name, roleDefaults[name]])),
  ...value,
  faults,
})

type Given = Omit<Decoded<ValuesOf<typeof roleParameters>>, "ignored">

/** Vault's roles have a read-only `allow_token_displayname`, which is always false. */
export const encodeRole = (role: Role, dialect: Dialect): Document => ({
  ...encodeMembers(roleParameters, role, dialect),
  allow_token_displayname: false,
})

/** Of a request. */
export const encodeRoleInput = ({ faults: _, ...input }: RoleInput): Document =>
  encodeMembers(roleParameters, input, "native")

export const decodeRole = (data: unknown): Role => decodeAnswer(roleParameters, data) as Role

// Roles (specification 2.1, pki-facts 1.2). Durations are text in the specification and seconds for existing clients.
import { parseNestedJson } from "../../core/json-bounds.ts"
import { parseInstant, type Instant } from "../../core/time.ts"
import { type PolicyIdentifier, type Role, type RoleInput, roleDefaults } from "../../pki/roles/role.ts"
import type { Dialect } from "./dialect.ts"
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

/** Of requests and of answers alike. */
export const roleParameters = parameters({
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
})

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

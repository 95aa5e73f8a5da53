// Role: a named policy by which a mount issues certificates. Writing replaces a role, patching merges. Both report all faults at once.
import { type Fault, rejectFaults } from "../../core/errors.ts"
import { dayMs, type Instant, secondMs } from "../../core/time.ts"
import { encodeOidContent } from "../../x509/asn1/oid.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { MountId } from "../mounts/mount.ts"
import { parseIpRange } from "../names/ip-address.ts"
import { parseOtherName } from "../names/other-name.ts"
import { isCountryCode, subjectMaxima, subjectTextProblem } from "../names/subject.ts"
import { isUri } from "../names/uri.ts"
import {
  allowedRsaExponentsProblem,
  isRoleKeyType,
  keyBitsProblem,
  resolveKeyBits,
  resolveSignatureBits,
  type RoleKeyType,
  signatureBitsProblem,
} from "../policy/key-strength.ts"
import { parseExtendedKeyUsages, parseKeyUsages } from "../policy/key-usage.ts"

/**
 * Forms that the common name may have: an email address or a host name. `disabled`, as the only entry, skips the check of the common
 * name.
 */
export type CommonNameValidation = "email" | "hostname" | "disabled"

/** A certificate policy with its qualifiers (RFC 5280, section 4.2.1.4). */
export interface PolicyIdentifier {
  readonly oid: string
  /** Text for relying parties. */
  readonly notice?: string
  /** URL of the certification practice statement. */
  readonly cps?: string
}

/**
 * Bound of `not_before` in requests. `permit`: any value. `duration`: not before now less `notBeforeDurationMs`. `forbid`: none. An
 * instant: not before it.
 */
export type NotBeforeBound = "permit" | "duration" | "forbid" | Instant
/**
 * Bound of `not_after` in requests. `permit`: any value. `ttl-limited`: cut to the maximum ttl. `forbid`: none. An instant: no
 * later, and it bounds a ttl as well.
 */
export type NotAfterBound = "permit" | "ttl-limited" | "forbid" | Instant

/**
 * Source of the serial number in the subject: `json` is the field of the request only; `json-csr` uses the CSR if that field is
 * empty.
 */
export type SerialNumberSource = "json" | "json-csr"

/** Rules of a role, mostly the parameters of Vault in camel case. Durations are in milliseconds. */
export interface Role {
  /** 0: the mount's default. */
  readonly ttlMs: number
  /** 0: the mount's maximum. */
  readonly maxTtlMs: number
  readonly notBeforeDurationMs: number
  /** Overrides `not_before` of the request. */
  readonly notBefore: Instant | null
  readonly notBeforeBound: NotBeforeBound
  /** Overrides `not_after` of the request and every ttl. */
  readonly notAfter: Instant | null
  readonly notAfterBound: NotAfterBound

  readonly allowLocalhost: boolean
  readonly allowedDomains: readonly string[]
  readonly allowedDomainsTemplate: boolean
  readonly allowBareDomains: boolean
  readonly allowSubdomains: boolean
  readonly allowGlobDomains: boolean
  readonly allowWildcardCertificates: boolean
  /** Allow `f*o.example.com`, which clients reject (RFC 9525, section 6.3). */
  readonly allowPartialWildcards: boolean
  readonly allowAnyName: boolean
  readonly enforceHostnames: boolean
  readonly allowIpSans: boolean
  /** Empty: any address. */
  readonly allowedIpSansCidr: readonly string[]
  readonly allowedUriSans: readonly string[]
  readonly allowedUriSansTemplate: boolean
  /** Treat a `*` in a value of the identity as a wildcard when the value fills in a template. */
  readonly allowGlobsInIdentityTemplates: boolean
  /** `<oid>;UTF8:<glob>`, or the single entry `*`. */
  readonly allowedOtherSans: readonly string[]
  readonly allowedSerialNumbers: readonly string[]
  readonly allowedUserIds: readonly string[]

  readonly serverFlag: boolean
  readonly clientFlag: boolean
  readonly codeSigningFlag: boolean
  readonly emailProtectionFlag: boolean
  /** Names as clients wrote them. Unknown names are stored and ignored (`parseKeyUsages`). */
  readonly keyUsage: readonly string[]
  readonly extKeyUsage: readonly string[]
  readonly extKeyUsageOids: readonly string[]

  readonly keyType: RoleKeyType
  /** Resolved size. 0 only if the type has no size. */
  readonly keyBits: number
  /** Resolved size. 0: the issuer's key decides. */
  readonly signatureBits: number
  /** Public exponents that RSA keys in requests may have. */
  readonly allowedRsaExponents: readonly number[]
  readonly usePss: boolean

  readonly useCsrCommonName: boolean
  readonly useCsrSans: boolean
  readonly serialNumberSource: SerialNumberSource
  readonly requireCn: boolean
  readonly cnValidations: readonly CommonNameValidation[]
  readonly ou: readonly string[]
  readonly organization: readonly string[]
  readonly country: readonly string[]
  readonly locality: readonly string[]
  readonly province: readonly string[]
  readonly streetAddress: readonly string[]
  readonly postalCode: readonly string[]

  readonly policyIdentifiers: readonly PolicyIdentifier[]
  readonly basicConstraintsValidForNonCa: boolean

  /** Id or name of an issuer, or `default`. It is resolved at each use of the role. */
  readonly issuerRef: string
  readonly generateLease: boolean
  readonly noStore: boolean
  readonly noStoreMetadata: boolean
}

/** Fields of a role as clients send them. Enumerated values are not validated yet. `faults` are those of the document itself. */
export type RoleInput = Partial<Omit<Role, keyof RoleTextMembers>> &
  Partial<RoleTextMembers> & { readonly faults?: readonly Fault[] }

interface RoleTextMembers {
  readonly keyType: string
  readonly cnValidations: readonly string[]
  readonly serialNumberSource: string
  readonly notBeforeBound: string | Instant
  readonly notAfterBound: string | Instant
}

/** Values for rows that were stored before roles had these bounds. They keep the behavior of such roles. */
export const storedRoleDefaults = { notBeforeBound: "permit", notAfterBound: "permit" } as const

/** Defaults of new roles. */
export const roleDefaults: Role = {
  ttlMs: 0,
  maxTtlMs: 0,
  notBeforeDurationMs: 30 * secondMs,
  notBefore: null,
  notBeforeBound: "duration",
  notAfter: null,
  notAfterBound: "ttl-limited",
  allowLocalhost: true,
  allowedDomains: [],
  allowedDomainsTemplate: false,
  allowBareDomains: false,
  allowSubdomains: false,
  allowGlobDomains: false,
  allowWildcardCertificates: true,
  allowPartialWildcards: false,
  allowAnyName: false,
  enforceHostnames: true,
  allowIpSans: true,
  allowedIpSansCidr: [],
  allowedUriSans: [],
  allowedUriSansTemplate: false,
  allowGlobsInIdentityTemplates: false,
  allowedOtherSans: [],
  allowedSerialNumbers: [],
  allowedUserIds: [],
  serverFlag: true,
  clientFlag: true,
  codeSigningFlag: false,
  emailProtectionFlag: false,
  keyUsage: ["DigitalSignature", "KeyAgreement", "KeyEncipherment"],
  extKeyUsage: [],
  extKeyUsageOids: [],
  keyType: "rsa",
  keyBits: 0,
  signatureBits: 0,
  allowedRsaExponents: [65_537],
  usePss: false,
  useCsrCommonName: true,
  useCsrSans: true,
  serialNumberSource: "json-csr",
  requireCn: true,
  cnValidations: ["email", "hostname"],
  ou: [],
  organization: [],
  country: [],
  locality: [],
  province: [],
  streetAddress: [],
  postalCode: [],
  policyIdentifiers: [],
  basicConstraintsValidForNonCa: false,
  issuerRef: "default",
  generateLease: false,
  noStore: false,
  noStoreMetadata: false,
}

/** Returns a new role. Throws `EngineError("invalid")` with all faults. */
export const createRole = (input: RoleInput): Role => settle(roleDefaults, input)

/** Returns the role with the fields of the patch. Throws like `createRole`. */
export function changeRole(before: Role, patch: RoleInput): Role {
  // Sizes that were resolved for one key type do not apply to another.
  const isOtherType = patch.keyType !== undefined && patch.keyType !== before.keyType
  return settle(isOtherType ? { ...before, keyBits: 0, signatureBits: 0 } : before, patch)
}

const maxName = 255

export function roleNameFaults(name: string): Fault[] {
  const field = ["name"]
  if (name.length > maxName) return [{ field, detail: `"name" must not be longer than ${maxName} characters` }]
  if (/^\w([\w.-]*\w)?$/.test(name)) return []
  const detail = `"name" may contain letters, digits, "_", "-" and ".", and must begin and end with a letter, digit or "_"`
  return [{ field, detail }]
}

/** Returns warnings about a role. `asked` contains the fields that the client sent, if they differ from the result. */
export function roleWarnings(role: Role, requested: RoleInput = role): string[] {
  const warnings: string[] = []
  if (role.noStore && requested.generateLease === true)
    warnings.push(
      '"no_store" and "generate_lease" are mutually exclusive: certificates are not stored and have no lease',
    )
  if (role.generateLease)
    warnings.push(
      '"generate_lease" creates a lease for each certificate; revocation by serial number does not require one',
    )
  if (role.allowedDomains.length > 0 && !role.allowAnyName && !allowsDomains(role))
    warnings.push(
      '"allowed_domains" allows nothing unless "allow_bare_domains", "allow_subdomains" or "allow_glob_domains" is true',
    )
  const keyUsage = parseKeyUsages(role.keyUsage)
  warnings.push(...keyUsage.unknown.map((name) => `"key_usage" ${name} is not known and is ignored`))
  if (keyUsage.usages.includes("keyCertSign"))
    warnings.push('"key_usage" CertSign is only for CA certificates and is left out of certificates of a role')
  const { unknown } = parseExtendedKeyUsages(role.extKeyUsage)
  return [...warnings, ...unknown.map((name) => `"ext_key_usage" ${name} is not known and is ignored`)]
}

const allowsDomains = (role: Role): boolean => role.allowBareDomains || role.allowSubdomains || role.allowGlobDomains

function settle(before: Role, input: RoleInput): Role {
  const requested = merge(before, input)
  rejectFaults([...(input.faults ?? []), ...settingFaults(requested)])
  // All enumerated values are valid now, because there are no faults.
  const role = requested as Role
  return {
    ...role,
    keyBits: resolveKeyBits(role.keyType, role.keyBits),
    signatureBits: resolveSignatureBits(role.keyType, role.signatureBits),
    // The expiry of a lease revokes a certificate through its record.
    generateLease: role.generateLease && !role.noStore,
  }
}

type RequestedRole = Omit<Role, keyof RoleTextMembers> & RoleTextMembers

function merge(before: Role, { faults: _, ...input }: RoleInput): RequestedRole {
  const requested: RequestedRole = { ...before, ...input }
  const cnValidations = requested.cnValidations.filter((word) => word !== "")
  return {
    ...requested,
    // An empty entry, such as one after a trailing comma, is ignored.
    ...Object.fromEntries(listFields.map((field) => [field, requested[field].filter((entry) => entry !== "")])),
    cnValidations: cnValidations.length === 0 ? roleDefaults.cnValidations : cnValidations,
    allowedRsaExponents:
      requested.allowedRsaExponents.length === 0 ? roleDefaults.allowedRsaExponents : requested.allowedRsaExponents,
    issuerRef: requested.issuerRef === "" ? roleDefaults.issuerRef : requested.issuerRef,
  }
}

function settingFaults(role: RequestedRole): Fault[] {
  const problems: readonly (readonly [keyof Role, string | undefined])[] = [
    ["ttlMs", ttlProblem(role)],
    ["maxTtlMs", durationProblem("max_ttl", role.maxTtlMs)],
    ["notBeforeDurationMs", durationProblem("not_before_duration", role.notBeforeDurationMs)],
    ["notBeforeBound", boundProblem("not_before_bound", role.notBeforeBound, ["permit", "duration", "forbid"])],
    ["notAfter", isReversed(role) ? `"not_after" must be later than "not_before"` : undefined],
    ["notAfterBound", boundProblem("not_after_bound", role.notAfterBound, ["permit", "ttl-limited", "forbid"])],
    ...listFields.map((field) => [field, listProblem(role[field], lists[field])] as const),
    ...keyProblems(role),
    ["serialNumberSource", serialNumberSourceProblem(role.serialNumberSource)],
    ["cnValidations", cnValidationsProblem(role.cnValidations)],
    ["policyIdentifiers", policyIdentifiersProblem(role.policyIdentifiers)],
    ["issuerRef", textOf('"issuer_ref"', role.issuerRef, maxEntry)],
  ]
  return problems.flatMap(([field, detail]) => (detail === undefined ? [] : [{ field: [field], detail }]))
}

/** 10,000 years: later instants cannot be encoded. */
const maxDurationMs = 10_000 * 366 * dayMs

const durationProblem = (field: string, durationMs: number): string | undefined =>
  durationMs < 0 ? `"${field}" must not be negative` : durationMs > maxDurationMs ? `"${field}" is too long` : undefined

function ttlProblem({ ttlMs, maxTtlMs }: RequestedRole): string | undefined {
  if (maxTtlMs > 0 && ttlMs > maxTtlMs) return '"ttl" value must be less than "max_ttl" value'
  return durationProblem("ttl", ttlMs)
}

const boundProblem = (field: string, bound: string | Instant, words: readonly string[]): string | undefined =>
  typeof bound === "number" || words.includes(bound)
    ? undefined
    : `"${field}" must be ${words.map((word) => `"${word}"`).join(", ")} or a timestamp`

const isReversed = ({ notBefore, notAfter }: RequestedRole): boolean =>
  notBefore !== null && notAfter !== null && notAfter <= notBefore

function keyProblems({
  keyType,
  keyBits,
  signatureBits,
  allowedRsaExponents,
}: RequestedRole): (readonly [keyof Role, string | undefined])[] {
  return [
    ...(isRoleKeyType(keyType)
      ? [["keyBits", keyBitsProblem(keyType, keyBits)] as const]
      : [["keyType", `unknown key type ${keyType}`] as const]),
    ["signatureBits", signatureBitsProblem(signatureBits)],
    ["allowedRsaExponents", allowedRsaExponentsProblem(allowedRsaExponents)],
  ]
}

const serialNumberSourceProblem = (source: string): string | undefined =>
  source === "json" || source === "json-csr" ? undefined : `"serial_number_source" must be "json-csr" or "json"`

const commonNameValidations: readonly string[] = ["email", "hostname", "disabled"]

function cnValidationsProblem(words: readonly string[]): string | undefined {
  const unknown = words.find((word) => !commonNameValidations.includes(word))
  if (unknown !== undefined)
    return `"cn_validations" may contain "email" and "hostname", or "disabled"; got "${unknown}"`
  if (new Set(words).size < words.length) return `"cn_validations" names one validation twice`
  return words.length > 1 && words.includes("disabled")
    ? `"disabled" must be the only one of "cn_validations"`
    : undefined
}

/** Maximum length of a notice in characters (RFC 5280, section 4.2.1.4). */
const maxNotice = 200

function policyIdentifiersProblem(policies: readonly PolicyIdentifier[]): string | undefined {
  if (policies.length > maxEntries) return `"policy_identifiers" must not contain more than ${maxEntries} entries`
  if (new Set(policies.map(({ oid }) => oid)).size < policies.length)
    return `"policy_identifiers" names one policy twice`
  return firstProblem(policies, ({ oid, notice, cps }) => {
    if (!isObjectIdentifier(oid)) return `"${oid}" could not be parsed as a valid oid for a policy identifier`
    if (cps !== undefined && !isUri(cps)) return `"cps" of policy identifier ${oid} must be a URI`
    return notice === undefined ? undefined : textOf(`"notice" of policy identifier ${oid}`, notice, maxNotice)
  })
}

interface ListRule {
  /** Name of the field on the wire. */
  readonly field: string
  readonly maxValue: number
  readonly problem?: (entry: string, all: readonly string[]) => string | undefined
}

type ListField = {
  [Field in keyof Role]: Role[Field] extends readonly string[]
    ? string extends Role[Field][number]
      ? Field
      : never
    : never
}[keyof Role]

const maxEntries = 10_000
/** Maximum number of entries with a `*`. Each of them is matched against each requested name. */
const maxGlobs = 1_000
const maxEntry = 1_024

const lists: Readonly<Record<ListField, ListRule>> = {
  allowedDomains: { field: "allowed_domains", maxValue: maxEntry },
  allowedIpSansCidr: { field: "allowed_ip_sans_cidr", maxValue: maxEntry, problem: rangeProblem },
  allowedUriSans: { field: "allowed_uri_sans", maxValue: maxEntry },
  allowedOtherSans: { field: "allowed_other_sans", maxValue: maxEntry, problem: otherSanProblem },
  allowedSerialNumbers: { field: "allowed_serial_numbers", maxValue: maxEntry },
  allowedUserIds: { field: "allowed_user_ids", maxValue: maxEntry },
  keyUsage: { field: "key_usage", maxValue: maxEntry },
  extKeyUsage: { field: "ext_key_usage", maxValue: maxEntry },
  extKeyUsageOids: { field: "ext_key_usage_oids", maxValue: maxEntry, problem: extKeyUsageOidProblem },
  ou: { field: "ou", maxValue: subjectMaxima.organizationalUnit },
  organization: { field: "organization", maxValue: subjectMaxima.organization },
  country: { field: "country", maxValue: maxEntry, problem: countryProblem },
  locality: { field: "locality", maxValue: subjectMaxima.locality },
  province: { field: "province", maxValue: subjectMaxima.province },
  streetAddress: { field: "street_address", maxValue: subjectMaxima.streetAddress },
  postalCode: { field: "postal_code", maxValue: subjectMaxima.postalCode },
}

const listFields = Object.keys(lists) as readonly ListField[]

function listProblem(entries: readonly string[], rule: ListRule): string | undefined {
  if (entries.length > maxEntries) return `"${rule.field}" must not contain more than ${maxEntries} entries`
  if (entries.filter((entry) => entry.includes("*")).length > maxGlobs)
    return `"${rule.field}" must not contain more than ${maxGlobs} entries with a "*"`
  return firstProblem(
    entries,
    (entry) => textOf(`"${rule.field}" entry`, entry, rule.maxValue) ?? rule.problem?.(entry, entries),
  )
}

function textOf(what: string, text: string, maxLength: number): string | undefined {
  const problem = subjectTextProblem(text, maxLength)
  return problem && `${what} ${problem}`
}

function rangeProblem(entry: string): string | undefined {
  return parseIpRange(entry) === undefined
    ? `"allowed_ip_sans_cidr" entry "${entry}" is not a valid CIDR range`
    : undefined
}

function otherSanProblem(entry: string, all: readonly string[]): string | undefined {
  if (entry === "*") return all.length > 1 ? '"*" must be the only entry of "allowed_other_sans"' : undefined
  const parsed = parseOtherName(entry)
  return "problem" in parsed ? `error parsing allowed_other_sans: ${parsed.problem}` : undefined
}

const isObjectIdentifier = (text: string): boolean => encodeOidContent(text) !== undefined

function extKeyUsageOidProblem(entry: string): string | undefined {
  return isObjectIdentifier(entry)
    ? undefined
    : `"${entry}" could not be parsed as a valid oid for an extended key usage`
}

function countryProblem(entry: string): string | undefined {
  return isCountryCode(entry) ? undefined : `"country" entry "${entry}" must be a code of two letters`
}

function firstProblem<T>(values: readonly T[], problemOf: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const problem = problemOf(value)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Saved role, with warnings for the client. */
export interface SavedRole {
  readonly role: Role
  readonly warnings: readonly string[]
}

/** Roles: named policies of issuance. */
export interface Roles {
  /** Returns the names in ascending order. */
  list(page?: KeyPage): Promise<readonly string[]>
  get(name: string): Promise<Role>
  /** Creates or replaces a role. Absent fields get their default. */
  save(name: string, input: RoleInput): Promise<SavedRole>
  /** Changes the given fields of an existing role. */
  update(name: string, patch: RoleInput): Promise<SavedRole>
  /** Deletes a role. Succeeds if there is no such role. */
  delete(name: string): Promise<void>
}

export interface NamedRole {
  readonly name: string
  readonly role: Role
}

export interface RoleRepository {
  /** Ordered by name. */
  list(mountId: MountId): Promise<readonly NamedRole[]>
  /** Creates the role, or replaces the one of that name. */
  save(mountId: MountId, named: NamedRole): Promise<void>
  remove(mountId: MountId, name: string): Promise<void>
}

// ACME settings of a mount: Vault's, and a few that Vault does not have (docs/acme.md).
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import type { Fault } from "../../core/errors.ts"
import { hourMs } from "../../core/time.ts"
import { parseIpAddress, parseIpRange } from "../names/ip-address.ts"
import type { Mount } from "./mount.ts"
import { defaultReference } from "../names/reference-name.ts"
import type { Role } from "../roles/role.ts"

export const eabPolicies = ["not-required", "new-account-required", "always-required"] as const
/** Rule for external account binding (RFC 8555, section 7.3.4): for which ACME accounts it is required. */
export type EabPolicy = (typeof eabPolicies)[number]

export interface AcmeSettings {
  readonly enabled: boolean
  /** Ids or names that explicit paths may select, or the single entry `*`. */
  readonly allowedIssuers: readonly string[]
  /** Names that explicit paths, profiles and the default policy may select, or the single entry `*`. */
  readonly allowedRoles: readonly string[]
  readonly allowRoleExtKeyUsage: boolean
  /** Policy text as the operator wrote it; `parseDirectoryPolicy` parses it. */
  readonly defaultDirectoryPolicy: string
  /** `host:port` or an address. Empty: the resolver of the system. */
  readonly dnsResolver: string
  readonly eabPolicy: EabPolicy
  /** Maximum lifetime of ACME certificates in milliseconds. 0: 90 days. */
  readonly maxTtlMs: number
  /** Non-public address ranges that challenge validation may reach. */
  readonly challengePermittedIpRanges: readonly string[]
  /** Address ranges that challenge validation never reaches. They override permitted ranges. */
  readonly challengeExcludedIpRanges: readonly string[]
  /** Names of this authority in CAA records (RFC 8659). If empty, CAA records are not checked. Not in Vault. */
  readonly caaIdentities: readonly string[]
  /** URL in the directory's `meta` (RFC 8555, section 7.1.1). Not in Vault. */
  readonly termsOfService: string
  readonly website: string
  /** Maximum number of orders of one account within 3 hours. 0 in any of the rate limits: no limit. The rate limits are not in Vault. */
  readonly ordersPerAccount: number
  /** Maximum number of certificates issued for a name, to all accounts together, within 7 days. */
  readonly ordersPerName: number
  /** Maximum number of accounts created from one address within 3 hours. */
  readonly accountsPerAddress: number
  /** Maximum number of failed validations of one account for one name within an hour. */
  readonly failedValidations: number
  /**
   * Rate limits of single directories, as the operator wrote them: `roles/web/acme orders_per_account=100 orders_per_name=5`. A `*`
   * matches any one segment of the path. `rateLimitsFor` parses them.
   */
  readonly directoryLimits: readonly string[]
}

export const defaultAcmeSettings: AcmeSettings = {
  enabled: false,
  allowedIssuers: ["*"],
  allowedRoles: ["*"],
  allowRoleExtKeyUsage: false,
  defaultDirectoryPolicy: "sign-verbatim",
  dnsResolver: "",
  eabPolicy: "not-required",
  maxTtlMs: 0,
  challengePermittedIpRanges: [],
  challengeExcludedIpRanges: [],
  caaIdentities: [],
  termsOfService: "",
  website: "",
  // More than a cluster of a few thousand hosts needs, and few enough that one client does not delay the others.
  ordersPerAccount: 3_000,
  ordersPerName: 100,
  accountsPerAddress: 500,
  failedValidations: 60,
  directoryLimits: [],
}

/** Returns true if earlier CAA checks do not cover the new identities: CAA was not checked before, or an identity was removed. */
export const asksOwnersAnew = (before: readonly string[], after: readonly string[]): boolean =>
  after.length > 0 && (before.length === 0 || before.some((identity) => !after.includes(identity)))

/** Settings that a write returns. */
export type WrittenAcmeSettings = Pick<
  AcmeSettings,
  "allowedIssuers" | "allowedRoles" | "defaultDirectoryPolicy" | "dnsResolver" | "eabPolicy" | "enabled"
>

/** Default of `max_ttl`, 90 days (docs/compatibility.md, "ACME clients"). */
const defaultMaxTtlMs = 2_160 * hourMs

export const acmeMaxTtlMs = ({ maxTtlMs }: Pick<AcmeSettings, "maxTtlMs">): number => maxTtlMs || defaultMaxTtlMs

export type DirectoryPolicy =
  | { readonly kind: "forbid" }
  | { readonly kind: "sign-verbatim" }
  | { readonly kind: "role"; readonly role: string }
  | { readonly kind: "external-policy"; readonly policy: string | undefined }

/** Returns undefined if the text is not a directory policy. */
export function parseDirectoryPolicy(text: string): DirectoryPolicy | undefined {
  if (text === "forbid" || text === "sign-verbatim") return { kind: text }
  if (text === "external-policy") return { kind: "external-policy", policy: undefined }
  const [, kind = "", name = ""] = /^(role|external-policy):(.+)$/s.exec(text) ?? []
  if (kind === "role") return { kind, role: name }
  return kind === "external-policy" ? { kind, policy: name } : undefined
}

/** Returns true if the list contains the name or `*`. */
export const allows = (names: readonly string[], name: string): boolean => names.includes("*") || names.includes(name)

/** Headers that ACME responses need. The mount must allow them. */
const neededHeaders = ["Location", "Replay-Nonce", "Link"] as const

export interface AcmePrerequisites {
  readonly mount: Pick<Mount, "path" | "config">
  readonly clusterPath: string
}

/** Returns the reason why a mount cannot serve ACME under any ACME settings; undefined if it can. */
export function acmeObstacle({ mount, clusterPath }: AcmePrerequisites): string | undefined {
  if (clusterPath === "") return "ACME requires the address of the mount; set path in config/cluster first"
  const allowed = mount.config.allowedResponseHeaders.map((name) => name.toLowerCase())
  const missing = neededHeaders.filter((name) => !allowed.includes(name.toLowerCase()) && !allowed.includes("*"))
  return missing.length === 0
    ? undefined
    : `ACME requires response headers that the mount does not allow; add ${missing.join(", ")} to allowed_response_headers of ${mount.path}`
}

export interface AcmeContext extends AcmePrerequisites {
  readonly roles: ReadonlyMap<string, Role>
  readonly hasIssuer: (reference: string) => boolean
}

/** Returns the faults of the settings that a change would result in. */
export function acmeSettingsFaults(settings: AcmeSettings, context: AcmeContext): Fault[] {
  const faults: Fault[] = []
  const refuse = (field: keyof AcmeSettings, detail: string) => faults.push({ field: [field], detail })
  const obstacle = settings.enabled ? acmeObstacle(context) : undefined
  if (obstacle !== undefined) refuse("enabled", obstacle)
  for (const problem of listProblems(settings.allowedIssuers, (name) => context.hasIssuer(name), "issuer"))
    refuse("allowedIssuers", `"allowed_issuers" ${problem}`)
  for (const problem of listProblems(settings.allowedRoles, (name) => context.roles.has(name), "role"))
    refuse("allowedRoles", `"allowed_roles" ${problem}`)
  const policyProblem = directoryPolicyProblem(settings, context.roles)
  if (policyProblem !== undefined) refuse("defaultDirectoryPolicy", `"default_directory_policy" ${policyProblem}`)
  if (settings.dnsResolver !== "" && parseResolver(settings.dnsResolver) === undefined)
    refuse("dnsResolver", '"dns_resolver" must be an address with or without a port, such as 10.0.0.53:53')
  if (settings.maxTtlMs < 0) refuse("maxTtlMs", '"max_ttl" must not be negative')
  for (const [field, name] of [
    ["challengePermittedIpRanges", "challenge_permitted_ip_ranges"],
    ["challengeExcludedIpRanges", "challenge_excluded_ip_ranges"],
  ] as const)
    for (const range of settings[field])
      if (parseIpRange(range) === undefined)
        refuse(field, `"${name}" has ${JSON.stringify(range)}, which is not a valid IP range`)
  for (const identity of settings.caaIdentities)
    if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(identity))
      refuse("caaIdentities", `"caa_identities" has ${JSON.stringify(identity)}, which is not a valid domain name`)
  for (const [field, name] of Object.entries(rateNames) as [RateField, string][])
    if (settings[field] < 0 || settings[field] > maxRate)
      refuse(field, `"${name}" must be from 0 (unlimited) to ${maxRate}`)
  for (const problem of directoryLimitsProblems(settings.directoryLimits))
    refuse("directoryLimits", `"directory_limits" ${problem}`)
  for (const field of ["termsOfService", "website"] as const)
    if (settings[field] !== "" && URL.parse(settings[field])?.protocol.startsWith("http") !== true)
      refuse(field, `"${field === "website" ? "website" : "terms_of_service"}" must be an http or https URL`)
  return faults
}

/** Returns a warning if ACME is enabled but the directories of the default policy have no issuer. */
export function acmeIssuerWarnings(
  settings: Pick<AcmeSettings, "enabled" | "defaultDirectoryPolicy">,
  { roles, hasIssuer }: Pick<AcmeContext, "roles" | "hasIssuer">,
): readonly string[] {
  const policy = parseDirectoryPolicy(settings.defaultDirectoryPolicy)
  if (!settings.enabled || (policy?.kind !== "sign-verbatim" && policy?.kind !== "role")) return []
  const role = policy.kind === "role" ? roles.get(policy.role) : undefined
  const reference = role?.issuerRef ?? defaultReference
  if (hasIssuer(reference)) return []
  const missing = reference === defaultReference ? "default issuer" : `issuer ${reference}`
  return [`the mount has no ${missing}, so the ACME directories that use it answer 404 until it has one`]
}

const maxRate = 1_000_000
const rateNames = {
  ordersPerAccount: "orders_per_account",
  ordersPerName: "orders_per_name",
  accountsPerAddress: "accounts_per_address",
  failedValidations: "failed_validations",
} as const
type RateField = keyof typeof rateNames
export type RateLimits = Pick<AcmeSettings, RateField>

interface DirectoryLimits {
  /** Segments of the directory's path; `*` matches any segment. */
  readonly parts: readonly string[]
  readonly limits: Partial<RateLimits>
}

const maxDirectoryLimits = 100

/**
 * Returns the rate limits of a directory. The limits of the matching entry with the fewest `*` override the mount's; of several such
 * entries, the first counts.
 */
export function rateLimitsFor(settings: RateLimits & Pick<AcmeSettings, "directoryLimits">, path: string): RateLimits {
  if (settings.directoryLimits.length === 0) return settings
  const parts = path.split("/")
  const [closest] = readDirectoryLimits(settings)
    .filter(
      (entry) =>
        entry.parts.length === parts.length && entry.parts.every((part, at) => part === "*" || part === parts[at]),
    )
    .toSorted((one, other) => wildcardsIn(one) - wildcardsIn(other))
  return closest === undefined ? settings : { ...settings, ...closest.limits }
}

const readDirectoryLimits = memoizeByIdentity(
  ({ directoryLimits }: Pick<AcmeSettings, "directoryLimits">): readonly DirectoryLimits[] =>
    directoryLimits.flatMap((text) => parseDirectoryLimits(text) ?? []),
)

const wildcardsIn = ({ parts }: DirectoryLimits): number => parts.filter((part) => part === "*").length

function parseDirectoryLimits(text: string): DirectoryLimits | undefined {
  const [path = "", ...words] = text.trim().split(/\s+/)
  const parts = path.split("/")
  if (parts.at(-1) !== "acme" || parts.includes("") || words.length === 0) return undefined
  const limits: { -readonly [Field in RateField]?: number } = {}
  for (const word of words) {
    const [, name, number] = /^(\w+)=(\d{1,7})$/.exec(word) ?? []
    const [field] = (Object.keys(rateNames) as RateField[]).filter((one) => rateNames[one] === name)
    if (field === undefined || Object.hasOwn(limits, field) || Number(number) > maxRate) return undefined
    limits[field] = Number(number)
  }
  return { parts, limits }
}

function directoryLimitsProblems(texts: readonly string[]): readonly string[] {
  if (texts.length > maxDirectoryLimits) return [`must not have more than ${maxDirectoryLimits} entries`]
  const unread = texts.filter((text) => parseDirectoryLimits(text) === undefined)
  const paths = texts.map((text) => text.trim().split(/\s+/)[0] ?? "")
  const duplicates = new Set(paths.filter((path, at) => paths.indexOf(path) !== at))
  return [
    ...unread.map(
      (text) =>
        `has ${JSON.stringify(text)}, which is not a directory path with limits from 0 to ${maxRate}, such as "roles/web/acme orders_per_account=100"`,
    ),
    ...Array.from(duplicates, (path) => `has limits of ${path} more than once`),
  ]
}

function listProblems(names: readonly string[], exists: (name: string) => boolean, what: string): readonly string[] {
  if (names.length === 0) return [`must not be empty; "*" allows every ${what}`]
  if (names.includes("*")) return names.length === 1 ? [] : [`must contain either "*" alone or names`]
  return names.filter((name) => !exists(name)).map((name) => `names the ${what} ${name}, which does not exist`)
}

function directoryPolicyProblem(
  { defaultDirectoryPolicy, allowedRoles }: AcmeSettings,
  roles: ReadonlyMap<string, Role>,
): string | undefined {
  const policy = parseDirectoryPolicy(defaultDirectoryPolicy)
  if (policy === undefined)
    return 'must be "forbid", "sign-verbatim", "role:<name>", "external-policy" or "external-policy:<policy>"'
  if (policy.kind !== "role") return undefined
  const role = roles.get(policy.role)
  if (role === undefined) return `names the role ${policy.role}, which does not exist`
  if (!allows(allowedRoles, policy.role)) return `names the role ${policy.role}, which is not in "allowed_roles"`
  return role.noStore
    ? `names the role ${policy.role}, whose no_store is true; ACME requires stored certificates`
    : undefined
}

export interface Resolver {
  readonly address: string
  readonly port: number
}

const dnsPort = 53

/** Parses `10.0.0.53`, `10.0.0.53:5353` or `[fd00::53]:53`. Returns undefined for anything else. */
export function parseResolver(text: string): Resolver | undefined {
  const [, bracketed, plain, port] =
    /^(?:\[([^\]]+)\]|([^\s:]+|[^\s[\]]*:[^\s[\]]*:[^\s[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const address = bracketed ?? plain ?? ""
  const number = port === undefined ? dnsPort : Number(port)
  return parseIpAddress(address) === undefined || number < 1 || number > 65_535 ? undefined : { address, port: number }
}

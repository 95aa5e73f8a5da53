// Service tokens are for machines that request certificates. They have only the rights of their policies. They end with the token that
// created them, unless they are orphans, and by time, number of uses or revocation.
import { defaultPolicyName, rootPolicyName } from "../../core/access.ts"
import { type Fault, invalid, rejectFaults, unprocessable } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import { hourMs, type Instant, secondMs } from "../../core/time.ts"
import { policyNameOf } from "../policies/policy.ts"
import { maxTokenCount, maxTokenTtlMs } from "./token-limits.ts"
import { lesserLifetime, limitsPolicies, type NamedTokenRole, policiesByRole, type TokenRole } from "./token-role.ts"

export interface ServiceToken {
  /** Identifies the token but grants nothing. Vault calls it the accessor. */
  readonly id: string
  readonly displayName: string
  /** Sorted. */
  readonly policies: readonly string[]
  readonly meta: Readonly<Record<string, string>>
  /** Token that created it, and with which it ends; null for an orphan. */
  readonly parentId: string | null
  /** Path of the request that created it. */
  readonly path: string
  readonly createdAt: Instant
  /** Null only for a token with the policy `root`. */
  readonly expiresAt: Instant | null
  /** Lifetime that was set at creation; null if it does not expire. */
  readonly ttlMs: number | null
  /** Maximum lifetime from the creation, across renewals. */
  readonly explicitMaxTtlMs: number | null
  /** Lifetime after each renewal. The number of renewals is unlimited. */
  readonly periodMs: number | null
  readonly renewable: boolean
  readonly lastRenewedAt: Instant | null
  /** Null if unlimited. */
  readonly usesLeft: number | null
  /** Ranges or single addresses that it can be used from; any address if empty. */
  readonly boundCidrs: readonly string[]
  /** Token role that it was created with; null for none. */
  readonly role: string | null
  /** Maximum lifetime from the creation, unless the token is periodic; the system's if null. */
  readonly maxTtlMs: number | null
  /** Auth method of its login, with which it ends; null for a token that another token created. */
  readonly authMethodId: Id<"auth"> | null
}

export interface ServiceTokenInput {
  /** Those of the creator if omitted. */
  readonly policies?: readonly string[]
  readonly ttlMs?: number
  readonly explicitMaxTtlMs?: number
  readonly periodMs?: number
  readonly renewable?: boolean
  /** 0 means unlimited. */
  readonly numUses?: number
  readonly displayName?: string
  readonly meta?: Readonly<Record<string, string>>
  readonly noParent?: boolean
  readonly noDefaultPolicy?: boolean
}

/** Facts about the creator that a new token depends on. */
export interface Maker {
  readonly policies: readonly string[]
  /** True if it holds `root`. */
  readonly everything: boolean
  /** True if it has `sudo` on the path of the creation. */
  readonly sudo: boolean
  /** Undefined for the engine itself, which acts without a token. */
  readonly token:
    | {
        readonly id: string
        readonly expiresAt: Instant | null
        readonly service: boolean
        readonly boundCidrs: readonly string[]
      }
    | undefined
}

/** Default lifetime of tokens, and maximum lifetime of tokens without a period. */
export const serviceTokenTtlMs = 768 * hourMs

const maxDisplayName = 128
const maxMeta = 64
const maxMetaText = 512
const maxPolicies = 100

/**
 * Creates a token and warnings. Throws `invalid` for faults of the input and for policies that the creator cannot grant. Throws
 * `unprocessable` for input that requires `sudo`.
 */
export function createServiceToken(
  input: ServiceTokenInput,
  maker: Maker,
  made: {
    readonly id: string
    readonly path: string
    readonly now: Instant
    readonly orphan: boolean
    readonly by?: NamedTokenRole | undefined
  },
): { readonly token: ServiceToken; readonly warnings: readonly string[] } {
  rejectFaults(inputFaults(input))
  const { displayName = "", meta = {}, renewable = true, numUses = 0 } = input
  const role = made.by?.role
  const orphan = role?.orphan ?? (made.orphan || input.noParent === true)
  if (role === undefined && input.noParent === true && !maker.sudo)
    throw unprocessable("no_parent requires the sudo capability")
  if (input.periodMs !== undefined && !maker.sudo) throw unprocessable("period requires the sudo capability")
  const policies = policiesFor(input, maker, role)
  const explicitMax = lesserLifetime(input.explicitMaxTtlMs, role?.explicitMaxTtlMs ?? null, "Explicit max TTL")
  const period = lesserLifetime(input.periodMs, role?.periodMs ?? null, "Period")
  const requested = { ttlMs: input.ttlMs, explicitMaxTtlMs: explicitMax.ms, periodMs: period.ms }
  const { ttlMs, warnings } = lifetimeFor(requested, maker, { root: policies.includes(rootPolicyName), orphan })
  const { id, now } = made
  return {
    warnings: [
      ...(role !== undefined && input.noParent === true && !role.orphan
        ? ['"no_parent" has no effect; the role sets whether its tokens are orphans']
        : []),
      ...explicitMax.warnings,
      ...period.warnings,
      ...warnings,
    ],
    token: {
      id,
      displayName: `token${displayName === "" ? "" : `-${displayName.replaceAll(/[^a-zA-Z0-9.@_-]/g, "-")}`}`,
      policies,
      meta,
      parentId: orphan ? null : (maker.token?.id ?? null),
      path: [made.path, role?.pathSuffix ?? ""].filter((part) => part !== "").join("/"),
      createdAt: now,
      expiresAt: ttlMs === null ? null : now + ttlMs,
      ttlMs,
      explicitMaxTtlMs: explicitMax.ms ?? null,
      periodMs: period.ms ?? null,
      renewable: renewable && ttlMs !== null && role?.renewable !== false,
      lastRenewedAt: null,
      usesLeft: usesOf(numUses, role?.numUses ?? 0),
      // Children inherit the bound addresses of their parent, so that they cannot be used from more places, unless a role sets the bounds.
      boundCidrs: role?.boundCidrs ?? (orphan ? [] : (maker.token?.boundCidrs ?? [])),
      role: made.by?.name ?? null,
      maxTtlMs: null,
      authMethodId: null,
    },
  }
}

/** Returns the lesser of two numbers of uses, of which 0 means unlimited. */
function usesOf(requested: number, ofRole: number): number | null {
  const uses = Math.min(requested === 0 ? Infinity : requested, ofRole === 0 ? Infinity : ofRole)
  return uses === Infinity ? null : uses
}

/**
 * Returns the policies of a new token. Creators grant only policies that they hold, unless they have `sudo` or a role sets the policies.
 */
function policiesFor(
  { policies: requested = [], noDefaultPolicy: withoutDefault = false }: ServiceTokenInput,
  maker: Maker,
  role: TokenRole | undefined,
): readonly string[] {
  const noDefaultPolicy = withoutDefault || role?.noDefaultPolicy === true
  if (role !== undefined && limitsPolicies(role))
    return policiesByRole(role, { policies: requested, noDefaultPolicy }, maker)
  const wanted = requested.length === 0 ? maker.policies : requested.map(policyNameOf)
  if (wanted.includes(rootPolicyName)) {
    if (!maker.everything)
      throw invalid([onPolicies('policies contains "root", which only a caller with root can grant')])
    return [rootPolicyName]
  }
  const beyond = maker.sudo ? [] : wanted.filter((name) => name !== defaultPolicyName && !maker.policies.includes(name))
  rejectFaults(beyond.map((name) => onPolicies(`policies contains "${name}", which the caller does not have`)))
  // A token without the default policy must not regain it by creating another token.
  const mayDefault = maker.sudo || maker.token?.service !== true || maker.policies.includes(defaultPolicyName)
  if (!mayDefault && wanted.includes(defaultPolicyName))
    throw invalid([onPolicies('policies contains "default", which the caller does not have')])
  const all = noDefaultPolicy || !mayDefault ? wanted : [...wanted, defaultPolicyName]
  return [...new Set(all)].toSorted()
}

function lifetimeFor(
  {
    ttlMs,
    periodMs,
    explicitMaxTtlMs,
  }: { readonly [Name in "ttlMs" | "periodMs" | "explicitMaxTtlMs"]: number | undefined },
  { token }: Maker,
  { root, orphan }: { readonly root: boolean; readonly orphan: boolean },
): { readonly ttlMs: number | null; readonly warnings: readonly string[] } {
  if (root && ttlMs === undefined && periodMs === undefined && explicitMaxTtlMs === undefined) {
    if (orphan && token !== undefined && token.expiresAt !== null)
      throw invalid([
        { field: ["ttlMs"], detail: "ttl is required; a token that expires cannot create one that never expires" },
      ])
    return { ttlMs: null, warnings: [] }
  }
  return bounded(periodMs ?? ttlMs ?? serviceTokenTtlMs, {
    systemMs: periodMs === undefined ? serviceTokenTtlMs : undefined,
    explicitMs: explicitMaxTtlMs,
  })
}

/**
 * Returns the token with a new expiry: now + `incrementMs`, within its maximum. Without `incrementMs`, the lifetime from its creation is
 * used. A period overrides both. Throws `unprocessable` for a token that cannot be renewed.
 */
export function renewServiceToken(
  token: ServiceToken,
  incrementMs: number | undefined,
  now: Instant,
): { readonly token: ServiceToken; readonly warnings: readonly string[] } {
  if (!token.renewable || token.expiresAt === null) throw notRenewable()
  if (incrementMs !== undefined) rejectFaults(ttlFaults("incrementMs", "increment", incrementMs))
  const age = now - token.createdAt
  const { ttlMs, warnings } = bounded(token.periodMs ?? incrementMs ?? token.ttlMs ?? serviceTokenTtlMs, {
    systemMs: token.periodMs === null ? (token.maxTtlMs ?? serviceTokenTtlMs) - age : undefined,
    explicitMs: token.explicitMaxTtlMs === null ? undefined : token.explicitMaxTtlMs - age,
  })
  return { token: { ...token, expiresAt: now + ttlMs, lastRenewedAt: now }, warnings }
}

/**
 * Applies the current token role: a lifetime that the role has shortened counts, and so does a period that it has removed. Throws
 * `unprocessable` if the role was deleted.
 */
export function asRoleSaysNow(token: ServiceToken, role: TokenRole | undefined): ServiceToken {
  if (token.role === null) return token
  if (role === undefined) throw unprocessable(`role "${token.role}" does not exist; its tokens cannot be renewed`)
  const { ms: explicitMaxTtlMs = null } = lesserLifetime(token.explicitMaxTtlMs ?? undefined, role.explicitMaxTtlMs, "")
  const period = lesserLifetime(token.periodMs ?? undefined, role.periodMs, "")
  return { ...token, explicitMaxTtlMs, periodMs: role.periodMs === null ? null : (period.ms ?? null) }
}

/** Error text that Vault clients match. */
export const notRenewable = () => unprocessable("lease is not renewable")

/** Caps a lifetime at the maxima, with a warning. Returns 0 if a maximum has already passed. */
export function bounded(
  requestedMs: number,
  { systemMs, explicitMs }: { readonly systemMs: number | undefined; readonly explicitMs: number | undefined },
): { readonly ttlMs: number; readonly warnings: readonly string[] } {
  const maximumMs = Math.max(0, Math.min(systemMs ?? Infinity, explicitMs ?? Infinity))
  if (requestedMs <= maximumMs) return { ttlMs: requestedMs, warnings: [] }
  const [requested, maximum] = [requestedMs, maximumMs].map((ms) => `${Math.floor(ms / secondMs)}s`)
  return {
    ttlMs: maximumMs,
    warnings: [`TTL of "${requested}" exceeded the effective max_ttl of "${maximum}"; TTL value is capped accordingly`],
  }
}

function inputFaults(input: ServiceTokenInput): Fault[] {
  const { policies = [], displayName = "", meta = {}, numUses = 0 } = input
  const faults: Fault[] = []
  const addFault = (field: string, detail: string) => void faults.push({ field: [field], detail })
  if (policies.length > maxPolicies) addFault("policies", `policies has too many names (maximum is ${maxPolicies})`)
  if (displayName.length > maxDisplayName)
    addFault("displayName", `display_name is too long (maximum is ${maxDisplayName} characters)`)
  const entries = Object.entries(meta)
  if (entries.length > maxMeta) addFault("meta", `meta has too many entries (maximum is ${maxMeta})`)
  if (entries.flat().some((text) => text.length > maxMetaText || /\p{Cc}/u.test(text)))
    addFault(
      "meta",
      `meta must contain keys and values of at most ${maxMetaText} characters without control characters`,
    )
  if (!Number.isSafeInteger(numUses) || numUses < 0 || numUses > maxTokenCount)
    addFault("numUses", `num_uses must be an integer from 0 to ${maxTokenCount}`)
  for (const [field, name] of [
    ["ttlMs", "ttl"],
    ["explicitMaxTtlMs", "explicit_max_ttl"],
    ["periodMs", "period"],
  ] as const) {
    const value = input[field]
    if (value !== undefined) faults.push(...ttlFaults(field, name, value))
  }
  return faults
}

const ttlFaults = (field: string, name: string, ttlMs: number): Fault[] =>
  Number.isSafeInteger(ttlMs) && ttlMs >= secondMs && ttlMs <= maxTokenTtlMs && ttlMs % secondMs === 0
    ? []
    : [{ field: [field], detail: `${name} must be a whole number of seconds from 1 to ${maxTokenCount}` }]

const onPolicies = (detail: string): Fault => ({ field: ["policies"], detail })

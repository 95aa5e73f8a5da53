// Service tokens: made by whoever may, for machines that ask for certificates. They have no rights beside their policies, live
// no longer than the token that made them unless they are orphans, and end by time, by number of uses or by revocation.
import { defaultPolicyName, rootPolicyName } from "../../core/access.ts"
import { type Fault, invalid, rejectFaults, unprocessable } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import { hourMs, type Instant, secondMs } from "../../core/time.ts"
import { policyNameOf } from "../policies/policy.ts"
import { tokenCountMaximum, tokenTtlMaximumMs } from "./token-limits.ts"
import { lesserLifetime, limitsPolicies, type NamedTokenRole, policiesByRole, type TokenRole } from "./token-role.ts"

export interface ServiceToken {
  /** Names the token without being good for anything else; clients call it the accessor. */
  readonly id: string
  readonly displayName: string
  /** Sorted. */
  readonly policies: readonly string[]
  readonly meta: Readonly<Record<string, string>>
  /** The token that made it, and with which it ends; null for an orphan. */
  readonly parentId: string | null
  /** Where it was made. */
  readonly path: string
  readonly createdAt: Instant
  /** Null only for a holder of `root`. */
  readonly expiresAt: Instant | null
  /** Lifetime it was made with; null without an end. */
  readonly ttlMs: number | null
  /** From its creation on, beyond which no renewal goes. */
  readonly explicitMaxTtlMs: number | null
  /** Each renewal lasts this long, and there may be any number of them. */
  readonly periodMs: number | null
  readonly renewable: boolean
  readonly lastRenewedAt: Instant | null
  /** Null for any number. */
  readonly usesLeft: number | null
  /** Ranges or single addresses that it can be used from; from anywhere when empty. */
  readonly boundCidrs: readonly string[]
  /** The token role it was made by; null for none. */
  readonly role: string | null
  /** From its creation on, beyond which no renewal goes unless there is a period; the system's when null. */
  readonly maxTtlMs: number | null
  /** The method it has logged in by, and with which it ends; null for one that another token has made. */
  readonly authMethodId: Id<"auth"> | null
}

export interface ServiceTokenInput {
  /** The maker's own when left out. */
  readonly policies?: readonly string[]
  readonly ttlMs?: number
  readonly explicitMaxTtlMs?: number
  readonly periodMs?: number
  readonly renewable?: boolean
  /** 0 is any number. */
  readonly numUses?: number
  readonly displayName?: string
  readonly meta?: Readonly<Record<string, string>>
  readonly noParent?: boolean
  readonly noDefaultPolicy?: boolean
}

/** What making a token depends on beside the input. */
export interface Maker {
  readonly policies: readonly string[]
  /** Holds `root`. */
  readonly everything: boolean
  /** May do what takes `sudo` where tokens are made. */
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

/** How long a token lives that asks for nothing, and how long any one may without a period. */
export const serviceTokenTtlMs = 768 * hourMs

const displayNameMaximum = 128
const metaMaximum = 64
const metaTextMaximum = 512
const policiesMaximum = 100

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
    throw unprocessable("no_parent: only a caller with sudo can make a token without a parent")
  if (input.periodMs !== undefined && !maker.sudo)
    throw unprocessable("period: only a caller with sudo can make a periodic token")
  const policies = policiesFor(input, maker, role)
  const explicitMax = lesserLifetime(input.explicitMaxTtlMs, role?.explicitMaxTtlMs ?? null, "Explicit max TTL")
  const period = lesserLifetime(input.periodMs, role?.periodMs ?? null, "Period")
  const asked = { ttlMs: input.ttlMs, explicitMaxTtlMs: explicitMax.ms, periodMs: period.ms }
  const { ttlMs, warnings } = lifetimeFor(asked, maker, { root: policies.includes(rootPolicyName), orphan })
  const { id, now } = made
  return {
    warnings: [
      ...(role !== undefined && input.noParent === true && !role.orphan
        ? ['"no_parent" has no effect: the role says whether its tokens are orphans']
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
      // A token that can be used from few places only makes none that can be used from more, unless a role says from where.
      boundCidrs: role?.boundCidrs ?? (orphan ? [] : (maker.token?.boundCidrs ?? [])),
      role: made.by?.name ?? null,
      maxTtlMs: null,
      authMethodId: null,
    },
  }
}

/** The lesser of two, of which 0 is any number. */
function usesOf(asked: number, ofRole: number): number | null {
  const uses = Math.min(asked === 0 ? Infinity : asked, ofRole === 0 ? Infinity : ofRole)
  return uses === Infinity ? null : uses
}

/** Nobody gives more than they have, unless they are trusted to or a role says what may be given. */
function policiesFor(
  { policies: asked = [], noDefaultPolicy: withoutDefault = false }: ServiceTokenInput,
  maker: Maker,
  role: TokenRole | undefined,
): readonly string[] {
  const noDefaultPolicy = withoutDefault || role?.noDefaultPolicy === true
  if (role !== undefined && limitsPolicies(role))
    return policiesByRole(role, { policies: asked, noDefaultPolicy }, maker)
  const wanted = asked.length === 0 ? maker.policies : asked.map(policyNameOf)
  if (wanted.includes(rootPolicyName)) {
    if (!maker.everything) throw invalid([onPolicies('policies has "root", which only a holder of it can give')])
    return [rootPolicyName]
  }
  const beyond = maker.sudo ? [] : wanted.filter((name) => name !== defaultPolicyName && !maker.policies.includes(name))
  rejectFaults(beyond.map((name) => onPolicies(`policies has "${name}", which the maker of the token does not hold`)))
  // A token made without the default policy does not get it back by making another one.
  const mayDefault = maker.sudo || maker.token?.service !== true || maker.policies.includes(defaultPolicyName)
  if (!mayDefault && wanted.includes(defaultPolicyName))
    throw invalid([onPolicies('policies has "default", which the maker of the token does not hold')])
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
        { field: ["ttlMs"], detail: "ttl is needed: a token that ends cannot make one that outlives it for ever" },
      ])
    return { ttlMs: null, warnings: [] }
  }
  return bounded(periodMs ?? ttlMs ?? serviceTokenTtlMs, {
    systemMs: periodMs === undefined ? serviceTokenTtlMs : undefined,
    explicitMs: explicitMaxTtlMs,
  })
}

/**
 * The token with its new end: that long from now, but never beyond its maximum. Throws `unprocessable` for a token that cannot be
 * renewed. What was asked for is the lifetime it was made with, unless given; a period goes before either.
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
 * The token as its role has it renewed: a lifetime that the role has shortened counts, and so does a period that it has taken away.
 * Without its role it is not renewed any more.
 */
export function asRoleSaysNow(token: ServiceToken, role: TokenRole | undefined): ServiceToken {
  if (token.role === null) return token
  if (role === undefined)
    throw unprocessable(`the role "${token.role}" that made the token is gone, so it is not renewed`)
  const { ms: explicitMaxTtlMs = null } = lesserLifetime(token.explicitMaxTtlMs ?? undefined, role.explicitMaxTtlMs, "")
  const period = lesserLifetime(token.periodMs ?? undefined, role.periodMs, "")
  return { ...token, explicitMaxTtlMs, periodMs: role.periodMs === null ? null : (period.ms ?? null) }
}

/** The words that existing clients look for. */
export const notRenewable = () => unprocessable("lease is not renewable")

/** The lifetime that was asked for, and what of it the maxima leave. Never before now: a maximum that has passed is the present. */
export function bounded(
  askedMs: number,
  { systemMs, explicitMs }: { readonly systemMs: number | undefined; readonly explicitMs: number | undefined },
): { readonly ttlMs: number; readonly warnings: readonly string[] } {
  const maximumMs = Math.max(0, Math.min(systemMs ?? Infinity, explicitMs ?? Infinity))
  if (askedMs <= maximumMs) return { ttlMs: askedMs, warnings: [] }
  const [asked, maximum] = [askedMs, maximumMs].map((ms) => `${Math.floor(ms / secondMs)}s`)
  return {
    ttlMs: maximumMs,
    warnings: [`TTL of "${asked}" exceeded the effective max_ttl of "${maximum}"; TTL value is capped accordingly`],
  }
}

function inputFaults(input: ServiceTokenInput): Fault[] {
  const { policies = [], displayName = "", meta = {}, numUses = 0 } = input
  const faults: Fault[] = []
  const refuse = (field: string, detail: string) => void faults.push({ field: [field], detail })
  if (policies.length > policiesMaximum)
    refuse("policies", `policies has too many names (maximum is ${policiesMaximum})`)
  if (displayName.length > displayNameMaximum)
    refuse("displayName", `display_name is too long (maximum is ${displayNameMaximum} characters)`)
  const entries = Object.entries(meta)
  if (entries.length > metaMaximum) refuse("meta", `meta has too many entries (maximum is ${metaMaximum})`)
  if (entries.flat().some((text) => text.length > metaTextMaximum || /\p{Cc}/u.test(text)))
    refuse("meta", `meta must hold text of at most ${metaTextMaximum} characters without control characters`)
  if (!Number.isSafeInteger(numUses) || numUses < 0 || numUses > tokenCountMaximum)
    refuse("numUses", `num_uses must be a whole number from 0 to ${tokenCountMaximum}`)
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
  Number.isSafeInteger(ttlMs) && ttlMs >= secondMs && ttlMs <= tokenTtlMaximumMs && ttlMs % secondMs === 0
    ? []
    : [{ field: [field], detail: `${name} must be a positive number of whole seconds, at most ${tokenCountMaximum}` }]

const onPolicies = (detail: string): Fault => ({ field: ["policies"], detail })

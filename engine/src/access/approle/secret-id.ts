// Secret ids: the half of a login that is a secret. One is shown in the answer that made it and nowhere else; it ends by time, by
// the number of its uses, or with its role.
import { type Fault, rejectFaults, unprocessable } from "../../core/errors.ts"
import { type Instant, secondMs } from "../../core/time.ts"
import { addressBounds } from "../logins/address-bounds.ts"
import { type AppRole, boundsCover, boundsFaults, countFaults, credentialFaults, durationFaults } from "./app-role.ts"

export interface SecretId {
  /** Names it without being good for a login. */
  readonly accessor: string
  /** Null for any number. */
  readonly usesLeft: number | null
  /** Lifetime it was made with; null without an end. Whole seconds. */
  readonly ttlMs: number | null
  readonly createdAt: Instant
  /** Of its last use too, where uses are counted. */
  readonly updatedAt: Instant
  readonly expiresAt: Instant | null
  /** Goes over to the tokens of its logins. */
  readonly metadata: Readonly<Record<string, string>>
  /** From where a login with it may come, besides what its role says; from anywhere when empty. */
  readonly cidrList: readonly string[]
  /** Where its tokens may be used, in place of what the role says; as that says when empty. */
  readonly tokenBoundCidrs: readonly string[]
}

export interface SecretIdInput {
  /** Drawn by the server when left out. */
  readonly secretId?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly cidrList?: readonly string[]
  readonly tokenBoundCidrs?: readonly string[]
  /** 0 is any number; the role's when left out, and never more. */
  readonly numUses?: number
  /** 0 is without an end; the role's when left out, and never more. Milliseconds, whole seconds. */
  readonly ttlMs?: number
}

const secretIdMaximum = 4_096
const metadataMaximum = 64
const metadataTextMaximum = 512

/** `maximumMs` is the longest of the method. Throws `invalid` with every fault, `unprocessable` for a role that takes none. */
export function createSecretId(
  role: AppRole,
  input: SecretIdInput,
  { accessor, now, maximumMs }: { readonly accessor: string; readonly now: Instant; readonly maximumMs: number },
): { readonly secretId: SecretId; readonly warnings: readonly string[] } {
  rejectFaults(secretIdFaults(role, input))
  if (!role.bindSecretId) throw unprocessable("bind_secret_id is not set on the role")
  const { metadata = {}, cidrList = [], tokenBoundCidrs = [] } = input
  const { numUses = role.secretIdNumUses, ttlMs = role.secretIdTtlMs } = input
  const keptMs = ttlMs === 0 ? null : Math.min(ttlMs, maximumMs)
  return {
    secretId: {
      accessor,
      usesLeft: numUses === 0 ? null : numUses,
      ttlMs: keptMs,
      createdAt: now,
      updatedAt: now,
      expiresAt: keptMs === null ? null : now + keptMs,
      metadata,
      cidrList,
      tokenBoundCidrs,
    },
    warnings:
      ttlMs > maximumMs ? [`TTL of "${ttlMs / secondMs}s" exceeded the maximum of the method and is capped`] : [],
  }
}

function secretIdFaults(role: AppRole, input: SecretIdInput): Fault[] {
  const { secretId, metadata = {}, cidrList = [], tokenBoundCidrs = [], numUses, ttlMs } = input
  return [
    ...(secretId === undefined ? [] : credentialFaults(["secretId", "secret_id"], secretId, secretIdMaximum)),
    ...metadataFaults(metadata),
    ...withinFaults(["cidrList", "cidr_list"], cidrList, {
      allowed: role.secretIdBoundCidrs,
      of: "secret_id_bound_cidrs",
    }),
    ...withinFaults(["tokenBoundCidrs", "token_bound_cidrs"], tokenBoundCidrs, {
      allowed: role.terms.boundCidrs,
      of: "token_bound_cidrs",
    }),
    ...(numUses === undefined ? [] : countFaults(["numUses", "num_uses"], numUses)),
    ...(numUses === undefined || isWithin(numUses, role.secretIdNumUses)
      ? []
      : [{ field: ["numUses"], detail: "num_uses cannot be higher than the role's secret_id_num_uses" }]),
    ...(ttlMs === undefined ? [] : durationFaults(["ttlMs", "ttl"], ttlMs)),
    ...(ttlMs === undefined || isWithin(ttlMs, role.secretIdTtlMs)
      ? []
      : [{ field: ["ttlMs"], detail: "ttl cannot be longer than the role's secret_id_ttl" }]),
  ]
}

function metadataFaults(metadata: Readonly<Record<string, string>>): Fault[] {
  const refuse = (problem: string): Fault[] => [{ field: ["metadata"], detail: `metadata ${problem}` }]
  const entries = Object.entries(metadata)
  if (entries.length > metadataMaximum) return refuse(`has too many entries (maximum is ${metadataMaximum})`)
  return entries.flat().some((text) => text.length > metadataTextMaximum || /\p{Cc}/u.test(text))
    ? refuse(`must hold text of at most ${metadataTextMaximum} characters without control characters`)
    : []
}

function withinFaults(
  [field, name]: readonly [string, string],
  bounds: readonly string[],
  { allowed, of }: { readonly allowed: readonly string[]; readonly of: string },
): Fault[] {
  const faults = boundsFaults([field, name], bounds)
  if (faults.length > 0 || boundsCover(allowed, bounds)) return faults
  return [{ field: [field], detail: `${name} must lie within the role's ${of}, which are ${allowed.join(", ")}` }]
}

/** 0 is without a limit, asked for and allowed alike. */
const isWithin = (asked: number, limit: number): boolean => limit === 0 || (asked !== 0 && asked <= limit)

/** What a login depends on; undefined where nothing like that is there. */
export interface ShownCredentials {
  readonly role: AppRole | undefined
  readonly secretId: SecretId | undefined
  /** Undefined where nobody knows. */
  readonly address: string | undefined
}

/**
 * What a login may have, or undefined for whatever it is that is wrong. A secret id whose ranges are not within its role's any
 * more, because those were narrowed, is good for nothing.
 */
export function admitted(
  { role, secretId, address }: ShownCredentials,
  now: Instant,
): { readonly role: AppRole; readonly secretId: SecretId | undefined } | undefined {
  if (role === undefined || !addressBounds(role.secretIdBoundCidrs)(address)) return undefined
  // What is shown beside the role id counts for nothing then.
  if (!role.bindSecretId) return { role, secretId: undefined }
  if (secretId === undefined || isOver(secretId, now)) return undefined
  const { cidrList } = secretId
  if (!boundsCover(role.secretIdBoundCidrs, cidrList) || !addressBounds(cidrList)(address)) return undefined
  return { role, secretId }
}

/** From that very instant on. */
export const isOver = ({ expiresAt }: Pick<SecretId, "expiresAt">, now: Instant): boolean =>
  expiresAt !== null && expiresAt <= now

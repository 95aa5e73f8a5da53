// Orders, authorizations and challenges, and how each stands by what is known of it at an instant (RFC 8555, section 7.1.6).
// What lies in the past ends them without anybody writing it down.
import type { Id } from "../core/ids.ts"
import { dayMs, hourMs, type Instant } from "../core/time.ts"
import type { CaaHistory } from "../pki/settings/mount-settings.ts"
import type { MountId } from "../pki/mount.ts"
import type { SerialNumber } from "../x509/serial-number.ts"
import type { AcmeAccountId } from "./account.ts"
import type { Identifier, ProvedIdentifier } from "./identifier.ts"
import type { Problem } from "./problem.ts"

export type AcmeOrderId = Id<"order">
export type AuthorizationId = Id<"authz">

export type OrderStatus = "pending" | "ready" | "processing" | "valid" | "invalid"
export type AuthorizationStatus = "pending" | "valid" | "invalid" | "deactivated" | "expired"
export const challengeTypes = ["http-01", "dns-01", "tls-alpn-01"] as const
export type ChallengeType = (typeof challengeTypes)[number]
export type ChallengeStatus = "pending" | "processing" | "valid" | "invalid"

export interface AcmeOrder {
  readonly id: AcmeOrderId
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  /** `open` until it is finalized, `processing` until that is done or has failed. */
  readonly state: "open" | "processing" | "valid" | "invalid"
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly identifiers: readonly Identifier[]
  readonly notBefore: Instant | null
  readonly notAfter: Instant | null
  readonly profile: string | null
  /** The certificate that this one is to come after (RFC 9773, section 5), as its unique identifier there. */
  readonly replaces: string | null
  /** DER, from the moment it is finalized. */
  readonly csr: Uint8Array | null
  readonly serialNumber: SerialNumber | null
  /** Why it was given up while it was processing. */
  readonly error: Problem | null
}

export interface Authorization {
  readonly id: AuthorizationId
  readonly mountId: MountId
  readonly accountId: AcmeAccountId
  readonly identifier: ProvedIdentifier
  readonly state: "pending" | "valid" | "invalid" | "deactivated"
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** For how long what is proved serves the orders of the same account, unless CAA records are to be looked at. */
export const validityMs = 30 * dayMs
/** For how long it counts what CAA records have said when a name was proved; public authorities look again as soon. */
export const caaValidityMs = 8 * hourMs

/** What was proved no later than this says nothing any more of CAA records, which are asked for this authority since then. */
export const caaHorizon = (now: Instant, { identitiesChangedAt }: CaaHistory): Instant =>
  Math.max(now - caaValidityMs, identitiesChangedAt - 1)

/** Whether what CAA records said when the name was proved does not count any more. An address has none. */
export const isCaaOld = (
  { identifier, state, expiresAt }: Pick<Authorization, "identifier" | "state" | "expiresAt">,
  now: Instant,
  history: CaaHistory,
): boolean => identifier.type === "dns" && state === "valid" && expiresAt - validityMs <= caaHorizon(now, history)

export interface Challenge {
  readonly authorizationId: AuthorizationId
  readonly type: ChallengeType
  readonly token: string
  readonly status: ChallengeStatus
  readonly validatedAt: Instant | null
  /** Of the last attempt. */
  readonly error: Problem | null
  /** How many attempts there were. */
  readonly attempts: number
}

/** Once proved, or failed, it stays that; nobody proves anything for one that has expired. */
export function authorizationStatusOf({ state, expiresAt }: Authorization, now: Instant): AuthorizationStatus {
  if (state === "pending") return expiresAt <= now ? "invalid" : "pending"
  return state === "valid" && expiresAt <= now ? "expired" : state
}

/** Of the order and the authorizations it asks for. */
export function orderStatusOf(
  { state, expiresAt }: Pick<AcmeOrder, "state" | "expiresAt">,
  authorizations: readonly AuthorizationStatus[],
  now: Instant,
): OrderStatus {
  if (state !== "open") return state
  if (expiresAt <= now) return "invalid"
  if (authorizations.every((status) => status === "valid")) return "ready"
  return authorizations.every((status) => status === "valid" || status === "pending") ? "pending" : "invalid"
}

/** Returns the challenge types that can prove an identifier. */
export function challengesFor({ type, wildcard }: ProvedIdentifier): readonly ChallengeType[] {
  if (type === "ip") return ["http-01"]
  return wildcard ? ["dns-01"] : challengeTypes
}

/** What whoever answers shows (RFC 8555, section 8.1). */
export const keyAuthorization = (token: string, thumbprint: string): string => `${token}.${thumbprint}`

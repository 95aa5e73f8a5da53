// Enrolment requests that wait for a decision. A protocol such as EST stores a request, answers the client that it waits, and signs when
// the client repeats the request after its approval.
import { EngineError, type Fault, unprocessable } from "../../core/errors.ts"
import type { Id } from "../../core/ids.ts"
import { dayMs, type Instant, minuteMs, secondMs } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { MountId } from "../mounts/mount.ts"

export type EnrolmentId = Id<"enrol">

export const enrolmentProtocols = ["est"] as const
export type EnrolmentProtocol = (typeof enrolmentProtocols)[number]

export const enrolmentOperations = ["simpleenroll", "simplereenroll", "serverkeygen"] as const
export type EnrolmentOperation = (typeof enrolmentOperations)[number]

export const enrolmentStates = ["pending", "approved", "denied", "issued"] as const
export type EnrolmentState = (typeof enrolmentStates)[number]

/** `manual`: callers approve or deny the request. `external-policy`: the external policy service does. */
export const enrolmentDeciders = ["manual", "external-policy"] as const
export type EnrolmentDecider = (typeof enrolmentDeciders)[number]

/** Client that sent the request, as its login identified it. */
export interface EnrolmentRequester {
  /** Accessor of the auth method. */
  readonly accessor: string
  readonly displayName: string
}

/** Values by which the server recognizes a repeated request. A mount has at most one current enrolment for them. */
export interface EnrolmentKey extends EnrolmentRequester {
  readonly mountId: MountId
  /** Path below the mount that the login was authorized for: `roles/web/est/simpleenroll`. */
  readonly path: string
  /** SHA-256 of the CSR (DER), lowercase hexadecimal. */
  readonly csrSha256: string
}

export interface Enrolment extends EnrolmentKey {
  readonly id: EnrolmentId
  readonly protocol: EnrolmentProtocol
  readonly operation: EnrolmentOperation
  /** Path policy that signs the request: `sign-verbatim`, `role:web` or `external-policy:web`. */
  readonly policy: string
  readonly decider: EnrolmentDecider
  /** DER. */
  readonly csr: Uint8Array
  /** Subject of the CSR as text. */
  readonly subject: string
  /** Common name and subject alternative names of the CSR, in lower case. */
  readonly names: readonly string[]
  readonly state: EnrolmentState
  readonly createdAt: Instant
  readonly expiresAt: Instant
  /** Pause that the client is told while the request is pending. */
  readonly retryAfterMs: number
  /** Time when the external policy service last answered that it has not decided. Before any answer, the time of creation. */
  readonly askedAt: Instant
  readonly decidedAt: Instant | null
  /** Name of the caller that decided; empty before the decision. */
  readonly decidedBy: string
  readonly comment: string
  /** Serial number of the issued certificate. */
  readonly serialNumber: SerialNumber | null
}

export const defaultEnrolmentTtlMs = 7 * dayMs
export const defaultRetryAfterMs = minuteMs
/** A shorter pause costs more than it saves; a longer one outlasts most enrolments. */
export const retryAfterBounds = { minMs: secondMs, maxMs: dayMs } as const

/** Pending enrolments that a mount accepts. A list of all of them is still readable for the approver. */
export const maxPendingPerMount = 10_000
/** Pending enrolments of one requester, so that one device cannot fill the queue of its mount. */
export const maxPendingPerRequester = 100

export const isExpired = ({ expiresAt }: Pick<Enrolment, "expiresAt">, now: Instant): boolean => expiresAt <= now

/** Step that the server takes for a request, depending on its enrolment. */
export type EnrolmentStep =
  /** Store it as a new enrolment. */
  | { readonly kind: "new" }
  /** Answer that the client must repeat the request later. */
  | { readonly kind: "wait"; readonly id: EnrolmentId; readonly retryAfterMs: number }
  /** Ask the external policy service again. */
  | { readonly kind: "ask"; readonly id: EnrolmentId }
  /** Sign. The transaction that records the certificate marks the enrolment as issued. */
  | { readonly kind: "sign"; readonly id: EnrolmentId }
  /** Return the certificate again, because the client lost the answer. */
  | { readonly kind: "issued"; readonly id: EnrolmentId; readonly serialNumber: SerialNumber }
  | { readonly kind: "denied"; readonly id: EnrolmentId; readonly comment: string }

/** Parts of an enrolment that the step depends on. */
export type EnrolmentProgress = Pick<
  Enrolment,
  | "id"
  | "operation"
  | "policy"
  | "decider"
  | "state"
  | "expiresAt"
  | "retryAfterMs"
  | "askedAt"
  | "comment"
  | "serialNumber"
>

/** Returns the step for a request with `policy`, depending on its current enrolment if there is one. */
export function enrolmentStep(enrolment: EnrolmentProgress | undefined, policy: string, now: Instant): EnrolmentStep {
  if (enrolment === undefined || isExpired(enrolment, now)) return { kind: "new" }
  const { id, operation, state, serialNumber, comment } = enrolment
  if (state === "issued") {
    // The server does not store the key that it generated, so a repeated request gets another key and certificate.
    if (serialNumber === null || operation === "serverkeygen") return { kind: "new" }
    return { kind: "issued", id, serialNumber }
  }
  // The decision was made for another policy, which issues another certificate.
  if (enrolment.policy !== policy) return { kind: "new" }
  switch (state) {
    case "pending":
      return pendingStep(enrolment, now)
    case "approved":
      return { kind: "sign", id }
    case "denied":
      return { kind: "denied", id, comment }
    default:
      return state satisfies never
  }
}

function pendingStep({ id, decider, askedAt, retryAfterMs }: EnrolmentProgress, now: Instant): EnrolmentStep {
  if (decider === "manual") return { kind: "wait", id, retryAfterMs }
  const restMs = askedAt + retryAfterMs - now
  // A clock that steps back must not make the client wait longer than the service said.
  return restMs <= 0 ? { kind: "ask", id } : { kind: "wait", id, retryAfterMs: Math.min(restMs, retryAfterMs) }
}

export type EnrolmentDecision = "approved" | "denied"

/**
 * Returns true if the decision changes the enrolment, and false if it was made before. Throws `unprocessable` if the enrolment has expired,
 * has the opposite decision, or is decided by the external policy service.
 */
export function assertDecidable(
  { decider, state, expiresAt }: Pick<Enrolment, "decider" | "state" | "expiresAt">,
  decision: EnrolmentDecision,
  now: Instant,
): boolean {
  if (isExpired({ expiresAt }, now)) throw unprocessable("The enrolment has expired; the client must request it again.")
  if (decider === "external-policy")
    throw unprocessable("The external policy service decides on this enrolment; approve or deny it there.")
  if (state === "pending") return true
  const decided: EnrolmentDecision = state === "denied" ? "denied" : "approved"
  if (decided === decision) return false
  throw unprocessable(
    state === "issued"
      ? "The certificate of this enrolment was issued; revoke it instead."
      : `The enrolment was ${decided} already; this is final until it expires.`,
  )
}

const fullRetryAfterMs = 10 * minuteMs

/** Throws `rate-limited` if another pending enrolment would exceed a bound. */
export function assertQueueHasRoom(pending: { readonly ofMount: number; readonly ofRequester: number }): void {
  if (pending.ofRequester >= maxPendingPerRequester)
    throw queueFull(`${maxPendingPerRequester} enrolments of this client wait for a decision already.`)
  if (pending.ofMount >= maxPendingPerMount)
    throw queueFull(`${maxPendingPerMount} enrolments of this mount wait for a decision already.`)
}

const queueFull = (detail: string) => new EngineError("rate-limited", detail, { retryAfterMs: fullRetryAfterMs })

const maxComment = 1_024

export function commentFaults(comment: string): readonly Fault[] {
  const field = ["comment"]
  if (comment.length > maxComment)
    return [{ field, detail: `comment must not be longer than ${maxComment} characters` }]
  return /\p{Cc}/u.test(comment) ? [{ field, detail: "comment must not contain control characters" }] : []
}

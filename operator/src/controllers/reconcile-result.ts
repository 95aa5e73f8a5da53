import type { EngineError } from "@chancery/engine"
import type { ApiError } from "../kube/cluster.ts"
import type { Condition, Health } from "./conditions.ts"
import type { Reason } from "./event-reasons.ts"

/** A kind's own members of the status, in addition to those of every kind. Plain JSON. */
export type OwnStatus = Readonly<Record<string, unknown>>

export interface ReconcileResult {
  readonly health: Health
  /** Conditions other than Ready, Reconciling, Stalled and Paused. If absent, they stay unchanged. */
  readonly conditions?: readonly Condition[]
  /** Complete own status: omitted members are removed. If absent, it stays unchanged. */
  readonly status?: OwnStatus
  /** Delay of the next reconciliation without a change. If absent, a backoff that grows with each failure applies. */
  readonly againAfterMs?: number
  /** Time of the next attempt, shown in the status (`nextAttemptTime`). The object is reconciled then, or earlier after `againAfterMs`. */
  readonly nextAttemptAt?: number
}

/** Ends a reconciliation early with an outcome. */
export class NotReadyError extends Error {
  readonly outcome: ReconcileResult

  constructor(outcome: ReconcileResult) {
    super(outcome.health.message)
    this.name = "NotReadyError"
    this.outcome = outcome
  }
}

/** Ends a reconciliation without writing a status, and repeats it shortly after. */
export class RequeueAfter extends Error {
  readonly againAfterMs: number

  constructor(againAfterMs: number) {
    super("requeue")
    this.name = "RequeueAfter"
    this.againAfterMs = againAfterMs
  }
}

/** Default polling interval, since an engine does not notify the operator of every change. */
export const pollMs = 600_000

/** Returns an error that needs a change by a user. The object is still reconciled at every poll. */
export const stalled = (reason: Reason, message: string, againAfterMs: number = pollMs): NotReadyError =>
  new NotReadyError({ health: { is: "stalled", reason, message }, againAfterMs })

/** Returns an error that is retried with a growing backoff, or after `againAfterMs` if no notification arrives for what it waits for. */
export const waiting = (reason: Reason, message: string, againAfterMs?: number): NotReadyError =>
  new NotReadyError({
    health: { is: "reconciling", reason, message },
    ...(againAfterMs === undefined ? {} : { againAfterMs }),
  })

const shortestPostponementMs = 1_000

/**
 * Translates an engine's error into an outcome. The message must be the same for repeated failures, because each new message is a write of
 * the status.
 */
export function refused(error: EngineError): NotReadyError | RequeueAfter {
  const { code, message, retryAfterMs } = error
  switch (code) {
    case "rate-limited":
      return new RequeueAfter(Math.max(retryAfterMs ?? 0, shortestPostponementMs))
    case "unauthenticated":
      return stalled("TokenRefused", "The engine rejects the token: it is unknown, expired or revoked.")
    case "unavailable":
      return unreached(error)
    case "busy":
    case "pending":
    case "out-of-service":
    case "internal":
      return waiting("EngineUnavailable", "The engine returns no usable response.")
    default:
      return stalled("EngineRefused", message)
  }
}

const hostPollMs = 60_000

/** Translates a connection failure by its cause. Causes that waiting does not resolve are `stalled`. */
function unreached({ message, cause }: EngineError): NotReadyError {
  const code = (cause as { readonly code?: unknown } | undefined)?.code
  if (cause instanceof SyntaxError || cause instanceof TypeError) return stalled("NotAnEngine", message)
  if (typeof code !== "string") return waiting("EngineUnavailable", "The engine returns no usable response.")
  if (/CERT|UNABLE_TO_|HOSTNAME_MISMATCH|ALTNAME/.test(code))
    return stalled("CertificateNotTrusted", `${message} Add its CA to caBundle or caSecretRef.`)
  if (/^(EPROTO|ERR_SSL_|HPE_)/.test(code))
    return stalled("NotAnEngine", `${message} Check the scheme and the port of baseURL.`)
  // DNS may change without a notification.
  if (code === "ENOTFOUND") return stalled("HostNotFound", message, hostPollMs)
  return waiting("EngineUnavailable", message)
}

const maxWords = 4_096

/** Returns the message of the API server's rejection. `subject` is a phrase such as `the Secret web-tls`. */
export const rejectionMessage = (subject: string, { message }: ApiError): string =>
  `The API server rejects ${subject}: ${message.slice(0, maxWords)}`

/** Returns the health after a rejection. Statuses from 500 on, such as failing webhooks, may resolve themselves; others need a change. */
export const rejectionHealth = (reason: Reason, subject: string, error: ApiError): Health => ({
  is: error.status >= 500 ? "reconciling" : "stalled",
  reason,
  message: rejectionMessage(subject, error),
})

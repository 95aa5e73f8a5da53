// What a look at an object came to.
import type { EngineError } from "@chancery/engine"
import type { ApiError } from "../kube/cluster.ts"
import type { Condition, Health } from "./conditions.ts"
import type { Reason } from "./event-reasons.ts"

/** A kind's own members of the status, beside those that every kind has. Plain JSON. */
export type OwnStatus = Readonly<Record<string, unknown>>

export interface Outcome {
  readonly health: Health
  /** Beside Ready, Reconciling, Stalled and Paused. As they were unless given. */
  readonly conditions?: readonly Condition[]
  /** Whole: what is left out goes away. As it was unless given. */
  readonly status?: OwnStatus
  /** After how long to look again though nothing changed; unless given, after a while that grows with each failure. */
  readonly againAfterMs?: number
  /** To be looked at exactly then, which the status tells (`nextAttemptTime`). */
  readonly nextAttemptAt?: number
}

/** Ends a look at an object early, with what there is to say of it. */
export class Unsettled extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.health.message)
    this.name = "Unsettled"
    this.outcome = outcome
  }
}

/** Ends a look without a word: whatever is needed is there a little later. */
export class Postponed extends Error {
  readonly againAfterMs: number

  constructor(againAfterMs: number) {
    super("postponed")
    this.name = "Postponed"
    this.againAfterMs = againAfterMs
  }
}

/** Kinds look again after this long though nothing has changed, as an engine tells nobody what happens in it. */
export const pollMs = 600_000

/** Nothing will come of it before somebody changes something. Looked at again all the same, with every poll. */
export const stalled = (reason: Reason, message: string, againAfterMs: number = pollMs): Unsettled =>
  new Unsettled({ health: { is: "stalled", reason, message }, againAfterMs })

/** It is tried again, after a while that grows; or with `againAfterMs` when whatever it waits for tells nobody sooner. */
export const waiting = (reason: Reason, message: string, againAfterMs?: number): Unsettled =>
  new Unsettled({
    health: { is: "reconciling", reason, message },
    ...(againAfterMs === undefined ? {} : { againAfterMs }),
  })

const shortestPostponementMs = 1_000

/**
 * What an engine's refusal means where nothing more is known of it. The message must not change from one failure to the next:
 * each would be a write.
 */
export function refused(error: EngineError): Unsettled | Postponed {
  const { code, message, retryAfterMs } = error
  switch (code) {
    case "rate-limited":
      return new Postponed(Math.max(retryAfterMs ?? 0, shortestPostponementMs))
    case "unauthenticated":
      return stalled("TokenRefused", "The engine does not take the token: it is unknown, expired or revoked.")
    case "unavailable":
      return unreached(error)
    case "busy":
    case "pending":
    case "out-of-service":
    case "internal":
      return waiting("EngineUnavailable", "The engine gives no usable answer.")
    default:
      return stalled("EngineRefused", message)
  }
}

const hostPollMs = 60_000

/** Names the cause where the connection has one; what no waiting mends is stalled. */
function unreached({ message, cause }: EngineError): Unsettled {
  const code = (cause as { readonly code?: unknown } | undefined)?.code
  if (cause instanceof SyntaxError || cause instanceof TypeError) return stalled("NotAnEngine", message)
  if (typeof code !== "string") return waiting("EngineUnavailable", "The engine gives no usable answer.")
  if (/CERT|UNABLE_TO_|HOSTNAME_MISMATCH|ALTNAME/.test(code))
    return stalled("CertificateNotTrusted", `${message} Name its authority in caBundle or caSecretRef.`)
  if (/^(EPROTO|ERR_SSL_|HPE_)/.test(code))
    return stalled("NotAnEngine", `${message} Check the scheme and the port of baseURL.`)
  // A name may be given an address without a word to the operator.
  if (code === "ENOTFOUND") return stalled("HostNotFound", message, hostPollMs)
  return waiting("EngineUnavailable", message)
}

const wordsMaximum = 4_096

/** Says what the API server rejects, in its own words. `subject`: `the Secret web-tls`. */
export const rejectionMessage = (subject: string, { message }: ApiError): string =>
  `The API server rejects ${subject}: ${message.slice(0, wordsMaximum)}`

/** A webhook that gives no answer may give one later; nothing else heals without a change. */
export const rejectionHealth = (reason: Reason, subject: string, error: ApiError): Health => ({
  is: error.status >= 500 ? "reconciling" : "stalled",
  reason,
  message: rejectionMessage(subject, error),
})

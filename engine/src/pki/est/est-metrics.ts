import type { Counter, Meter } from "@opentelemetry/api"
import { type EngineErrorCode, isEngineError } from "../../core/errors.ts"
import { createCounter } from "../../core/metrics.ts"
import { type EstOperation, estOperations } from "./est-settings.ts"

/**
 * `answered`: an answer without a certificate for the client. `denied`: the client is known and may not do it. `refused`: the request itself
 * was rejected, for example by a role.
 */
const estOutcomes = [
  "issued",
  "waiting",
  "answered",
  "unauthenticated",
  "denied",
  "refused",
  "rate_limited",
  "busy",
  "failed",
] as const
export type EstOutcome = (typeof estOutcomes)[number]

/** Labels are never names of mounts or labels of paths, because there is no bound on them. */
export interface EstMetrics {
  readonly requests: Counter<{ operation: EstOperation; outcome: EstOutcome }>
}

const reads: readonly EstOperation[] = ["cacerts", "csrattrs"]
const possibleOutcomes = (operation: EstOperation): readonly EstOutcome[] =>
  reads.includes(operation)
    ? ["answered", "refused", "busy", "failed"]
    : estOutcomes.filter((outcome) => outcome !== "answered")

export const createEstMetrics = (meter: Meter): EstMetrics => ({
  requests: createCounter(
    meter,
    "chancery_est_requests_total",
    "EST requests on this server, by operation and outcome.",
    estOperations.flatMap((operation) => possibleOutcomes(operation).map((outcome) => ({ operation, outcome }))),
  ),
})

/** Returns the outcome of a request with an answer. */
export function estOutcomeOfStatus(operation: EstOperation, status: number): EstOutcome {
  if (reads.includes(operation)) return "answered"
  return status === 202 ? "waiting" : "issued"
}

const outcomes: Partial<Record<EngineErrorCode, EstOutcome>> = {
  unauthenticated: "unauthenticated",
  forbidden: "denied",
  "rate-limited": "rate_limited",
  busy: "busy",
  unavailable: "failed",
  "out-of-service": "failed",
  internal: "failed",
}

/** Returns the outcome of a request that threw. */
export const estOutcomeOfError = (error: unknown): EstOutcome =>
  isEngineError(error) ? (outcomes[error.code] ?? "refused") : "failed"

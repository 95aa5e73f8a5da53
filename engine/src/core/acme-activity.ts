import { type Durations, noDurations, recordDuration } from "./durations.ts"
import { hourMs, minuteMs, secondMs } from "./time.ts"

/** What ACME has done in this process since the engine was opened; counted as it happens, read when someone asks for metrics. */
export interface AcmeActivity {
  readonly orders: Record<AcmeOrderOutcome, number>
  /** From when an order was made to its certificate, of all that are valid. */
  readonly orderDurations: Durations
  readonly validations: Record<ValidatedType, Validations>
  /** Certificates that end with their issuer, before the end that role and settings give. */
  shortenedCount: number
}

/**
 * `invalid` are those that failed when they were finalized, those of whose names one was not proved, or given up, and those whose
 * time was over before they were finalized.
 */
export const acmeOrderOutcomes = ["made", "valid", "invalid"] as const
export type AcmeOrderOutcome = (typeof acmeOrderOutcomes)[number]

export const validatedTypes = ["http-01", "dns-01", "tls-alpn-01"] as const
export type ValidatedType = (typeof validatedTypes)[number]
export const validationResults = ["valid", "retried", "invalid"] as const
export type ValidationResult = (typeof validationResults)[number]

export interface Validations {
  readonly results: Record<ValidationResult, number>
  readonly durations: Durations
}

/** People or machines may take their time to prove what they have. */
const orderBoundsMs = [100, 250, 500, secondMs, 2_500, 5_000, 10_000, 30_000, minuteMs, 5 * minuteMs, hourMs]
/** No look takes longer than some time-outs one after another. */
const validationBoundsMs = [5, 10, 25, 50, 100, 250, 500, secondMs, 2_500, 5_000, 10_000, 30_000]

const noValidations = (): Validations => ({
  results: { valid: 0, retried: 0, invalid: 0 },
  durations: noDurations(validationBoundsMs),
})

export const noAcmeActivity = (): AcmeActivity => ({
  orders: { made: 0, valid: 0, invalid: 0 },
  orderDurations: noDurations(orderBoundsMs),
  validations: { "http-01": noValidations(), "dns-01": noValidations(), "tls-alpn-01": noValidations() },
  shortenedCount: 0,
})

export function recordOrder(activity: AcmeActivity, outcome: "valid" | "invalid", durationMs: number): void {
  activity.orders[outcome] += 1
  if (outcome === "valid") recordDuration(activity.orderDurations, durationMs)
}

export function recordValidation(
  { validations }: AcmeActivity,
  type: ValidatedType,
  result: ValidationResult,
  durationMs: number,
): void {
  validations[type].results[result] += 1
  recordDuration(validations[type].durations, durationMs)
}

/** What ACME has done in this process since the engine was opened; counted as it happens, read when someone asks for metrics. */
export interface AcmeActivity {
  readonly orders: Record<AcmeOrderOutcome, number>
  /** From when an order was made to its certificate, of all that are valid. */
  orderDurationMs: number
  readonly validations: Record<ValidatedType, Validations>
}

/** `invalid` are those that failed when they were finalized, and those of whose names one was not proved, or given up. */
export const acmeOrderOutcomes = ["made", "valid", "invalid"] as const
export type AcmeOrderOutcome = (typeof acmeOrderOutcomes)[number]

export const validatedTypes = ["http-01", "dns-01", "tls-alpn-01"] as const
export type ValidatedType = (typeof validatedTypes)[number]
export const validationResults = ["valid", "retried", "invalid"] as const
export type ValidationResult = (typeof validationResults)[number]

export interface Validations {
  readonly results: Record<ValidationResult, number>
  durationMs: number
}

const noValidations = (): Validations => ({ results: { valid: 0, retried: 0, invalid: 0 }, durationMs: 0 })

export const noAcmeActivity = (): AcmeActivity => ({
  orders: { made: 0, valid: 0, invalid: 0 },
  orderDurationMs: 0,
  validations: { "http-01": noValidations(), "dns-01": noValidations(), "tls-alpn-01": noValidations() },
})

export function recordOrder(activity: AcmeActivity, outcome: "valid" | "invalid", durationMs: number): void {
  activity.orders[outcome] += 1
  if (outcome === "valid") activity.orderDurationMs += durationMs
}

export function recordValidation(
  { validations }: AcmeActivity,
  type: ValidatedType,
  result: ValidationResult,
  durationMs: number,
): void {
  validations[type].results[result] += 1
  validations[type].durationMs += durationMs
}

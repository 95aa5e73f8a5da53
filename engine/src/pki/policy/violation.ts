import { type FieldPath, rejectFaults } from "../../core/errors.ts"

/** One broken rule of an issuance policy. */
export interface Violation {
  /** Name of the check. */
  readonly rule: string
  /** Rejected name or value. */
  readonly name: string
  /** Field that contained the value, or that can correct the problem. */
  readonly field: FieldPath
  /** Sentence for the client. */
  readonly message: string
}

export const violation = (rule: string, field: string, name: string, message: string): Violation => ({
  rule,
  name,
  field: [field],
  message,
})

/** Maximum number of faults in a response. */
const maxReported = 100

/** Throws `EngineError("invalid")` with a fault for each violation. */
export function rejectViolations(violations: readonly Violation[]): void {
  const faults = violations.slice(0, maxReported).map(({ field, message }) => ({ field, detail: message }))
  const unreported = violations.length - faults.length
  rejectFaults(unreported > 0 ? [...faults, { detail: `${unreported} more names or fields break a rule` }] : faults)
}

const maxShown = 256

/** Shortens a name for error messages. Names come from clients and may have any length. */
export const shown = (name: string): string => (name.length > maxShown ? `${name.slice(0, maxShown)}…` : name)

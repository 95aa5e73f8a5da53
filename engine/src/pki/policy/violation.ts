import { type FieldPath, rejectFaults } from "../../core/errors.ts"

/** One broken rule of those by which certificates are issued. */
export interface Violation {
  /** The rule, as the name of its check says it. */
  readonly rule: string
  /** What broke it: a name, or the value of a field. */
  readonly name: string
  /** The field that it came in, or that would mend it. */
  readonly field: FieldPath
  /** The sentence for whoever asked. */
  readonly message: string
}

export const violation = (rule: string, field: string, name: string, message: string): Violation => ({
  rule,
  name,
  field: [field],
  message,
})

/** What an answer has room for. */
const reportedMaximum = 100

/** Throws `EngineError("invalid")` with a fault for each. */
export function rejectViolations(violations: readonly Violation[]): void {
  const faults = violations.slice(0, reportedMaximum).map(({ field, message }) => ({ field, detail: message }))
  const unreported = violations.length - faults.length
  rejectFaults(unreported > 0 ? [...faults, { detail: `${unreported} more names or fields break a rule` }] : faults)
}

const shownMaximum = 256

/** Names come from outside and may have any length; a sentence has room for the beginning of one. */
export const shown = (name: string): string => (name.length > shownMaximum ? `${name.slice(0, shownMaximum)}…` : name)

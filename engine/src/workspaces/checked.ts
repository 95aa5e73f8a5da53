import type { Fault } from "../core/errors.ts"

/** What a rule made of its input, and everything that is wrong with it; the value counts only when nothing is. */
export interface Checked<T> {
  readonly value: T
  readonly faults: readonly Fault[]
}

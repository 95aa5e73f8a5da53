import { type Fault, invalid } from "../../core/errors.ts"
import { UniqueViolation } from "./query-runner.ts"

/** Runs `write` and turns a violated unique constraint into the fault of its field. Keys of `faults` are parts of the constraint's name. */
export async function rejectTaken(
  write: () => Promise<unknown>,
  faults: Readonly<Record<string, Fault>>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    const { constraint } = error
    const found = Object.entries(faults).find(([part]) => constraint.includes(part))
    if (found === undefined) throw error
    throw invalid([found[1]])
  }
}

export const nameTaken: Fault = { field: ["name"], detail: "Name has already been taken" }

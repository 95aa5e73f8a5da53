// Differences between a spec and the engine by field, for the status. Pure functions.

export interface Difference {
  /** Field of the spec, such as `autoDestroy.at`. */
  readonly field: string
  /** JSON, truncated if it is long. */
  readonly desired: string
  readonly observed: string
}

const maxLength = 512

export const difference = (field: string, desired: unknown, observed: unknown): Difference => ({
  field,
  desired: shown(desired),
  observed: shown(observed),
})

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
}

const maxNames = 8

/** Returns the names of the fields for a sentence. */
export function fieldsOf(differences: readonly Difference[]): string {
  const names = differences.map(({ field }) => field)
  const rest = names.length - maxNames
  return `${names.slice(0, maxNames).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

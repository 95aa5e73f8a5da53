// What differs between a spec and the engine, field by field, as the status tells it. Pure.

export interface Difference {
  /** Of the spec: `autoDestroy.at`. */
  readonly field: string
  /** JSON, cut where it is long. */
  readonly desired: string
  readonly observed: string
}

const lengthMaximum = 512

export const difference = (field: string, desired: unknown, observed: unknown): Difference => ({
  field,
  desired: shown(desired),
  observed: shown(observed),
})

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length <= lengthMaximum ? text : `${text.slice(0, lengthMaximum)}…`
}

const namesMaximum = 8

/** For a sentence. */
export function fieldsOf(differences: readonly Difference[]): string {
  const names = differences.map(({ field }) => field)
  const rest = names.length - namesMaximum
  return `${names.slice(0, namesMaximum).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

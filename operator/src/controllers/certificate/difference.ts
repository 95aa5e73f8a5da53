/** Difference between the spec and a certificate or a role. */
export interface Difference {
  /** Path below `spec`. */
  readonly field: string
  readonly wanted: readonly string[]
  readonly found: readonly string[]
}

/** Formats differences for the message of a condition. */
export const describeDifferences = (all: readonly Difference[]): string =>
  all.map(({ field, wanted, found }) => `spec.${field}: expected ${listOf(wanted)}, got ${listOf(found)}`).join("; ")

const maxListed = 20

function listOf(texts: readonly string[]): string {
  if (texts.length === 0) return "none"
  const rest = texts.length - maxListed
  return `${texts.slice(0, maxListed).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

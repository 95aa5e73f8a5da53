/** Milliseconds since the Unix epoch. */
export type Instant = number

export interface Clock {
  now(): Instant
}

export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** ISO 8601 in UTC with milliseconds and a literal `Z`, which Go clients require. */
export const formatInstant = (instant: Instant): string => new Date(instant).toISOString()

/** ISO 8601 with a zone; undefined when the text is no such instant. */
export function parseInstant(text: string): Instant | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/.test(text)) return undefined
  const instant = Date.parse(text)
  return Number.isNaN(instant) || !isDate(text.slice(0, 10)) ? undefined : instant
}

/** The parser takes 30 February for 2 March. */
function isDate(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight) && formatInstant(midnight).startsWith(date)
}

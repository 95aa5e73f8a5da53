/** Milliseconds since the Unix epoch. */
export type Instant = number

export interface Clock {
  now(): Instant
}

export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/**
 * Clocks that NTP synchronizes differ by less. A time further ahead means that a clock was set back, or that another server's clock is
 * fast.
 */
const clockToleranceMs = secondMs

export const isAhead = (instant: Instant, now: Instant, toleranceMs = clockToleranceMs): boolean =>
  instant - now > toleranceMs

/** Formats as ISO 8601 in UTC with milliseconds and a literal `Z`, which Go clients require. */
export const formatInstant = (instant: Instant): string => new Date(instant).toISOString()

/** Parses ISO 8601 with a zone. Returns undefined for any other text. */
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

const units: readonly (readonly [name: string, ms: number])[] = [
  ["w", 7 * dayMs],
  ["d", dayMs],
  ["h", hourMs],
  ["m", minuteMs],
  ["s", secondMs],
  ["ms", 1],
]
const unitsMs = new Map(units)
const maxDuration = 64

/**
 * Parses `90s`, `1h30m`, `2160h0m0s`, `7d` or `1.5h` to milliseconds. Returns undefined for any other text, including a number without a
 * unit.
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > maxDuration || !/^(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+$/.test(text)) return undefined
  let total = 0
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[wdhms])/g))
    total += Number(count) * (unitsMs.get(unit ?? "") ?? Number.NaN)
  const rounded = Math.round(total)
  return Number.isSafeInteger(rounded) ? rounded : undefined
}

/** An instant, or an offset from the time of the query; negative for the past. */
export type InstantOrOffset = Instant | { readonly fromNowMs: number }

/** Parses RFC 3339, or a duration with a unit (`30d`, `-7d`) as an offset from now. */
export function parseInstantOrOffset(text: string): InstantOrOffset | undefined {
  const instant = parseInstant(text)
  if (instant !== undefined) return instant
  const isPast = text.startsWith("-")
  const durationMs = parseDuration(isPast ? text.slice(1) : text)
  return durationMs === undefined ? undefined : { fromNowMs: isPast ? 0 - durationMs : durationMs }
}

export const formatInstantOrOffset = (bound: InstantOrOffset): string =>
  typeof bound === "number"
    ? formatInstant(bound)
    : `${bound.fromNowMs < 0 ? "-" : ""}${formatDuration(Math.abs(bound.fromNowMs))}`

/** The latest time of a Date (ECMA-262, section 21.4.1.1). */
const latestInstant = 8_640_000_000_000_000

export const instantAt = (bound: InstantOrOffset, now: Instant): Instant =>
  typeof bound === "number" ? bound : Math.min(Math.max(now + bound.fromNowMs, -latestInstant), latestInstant)

/**
 * Formats the shortest text that `parseDuration` and Go both parse: `72h`, `1h30m`, `0s`. Days are not used because Go does not know
 * them.
 */
export function formatDuration(durationMs: number): string {
  let left = durationMs
  let text = ""
  for (const [name, unitMs] of units) {
    if (unitMs > hourMs || left < unitMs) continue
    const count = Math.floor(left / unitMs)
    text += `${count}${name}`
    left -= count * unitMs
  }
  return text === "" ? "0s" : text
}

import { type Instant, dayMs } from "../../core/time.ts"

export interface CivilTime {
  /** 0 to 9999. */
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** Shifts years by one period of the calendar, because `Date.UTC` maps the years 0 to 99 to 1900 to 1999. */
const eraYears = 400
const eraMs = 146_097 * dayMs

/** Returns undefined if there is no such day or time of day. A 61st second is not valid in X.509 either. */
export function instantOf({ year, month, day, hour, minute, second }: CivilTime): Instant | undefined {
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined
  const shifted = Date.UTC(year + eraYears, month - 1, day, hour, minute, second)
  // `Date.UTC` turns 30 February into a day of March.
  return new Date(shifted).getUTCDate() === day ? shifted - eraMs : undefined
}

/** Converts an instant, dropping fractions of a second. Throws `RangeError` outside the years 0 to 9999. */
export function civilTime(instant: Instant): CivilTime {
  const date = new Date(instant)
  const year = date.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) throw new RangeError(`the instant ${instant} is outside the years 0 to 9999`)
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  }
}

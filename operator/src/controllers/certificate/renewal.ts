// Times of renewals and of retries after failed issuance, as pure functions. Randomness is an argument.
import { Cron } from "croner"
import type { Instant } from "@chancery/engine"

export interface RenewalWindow {
  readonly cron: string
  readonly durationMs: number
  /** IANA time zone name. */
  readonly timezone: string
}

export interface RenewalTerms {
  readonly renewBeforeMs?: number | undefined
  /** From 1 to 99. */
  readonly renewBeforePercentage?: number | undefined
  readonly windows: readonly RenewalWindow[]
}

export interface Validity {
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export interface RenewalTime {
  /** Rounded to a whole second, the precision of the status. */
  readonly at: Instant
  /** True if no window opens early enough. */
  readonly isOutsideWindow: boolean
}

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Returns how long before expiry the certificate is renewed. Requested values that exceed its lifetime are adjusted. */
export function renewBeforeMs({ notBefore, notAfter }: Validity, terms: Omit<RenewalTerms, "windows">): number {
  const life = notAfter - notBefore
  const wantedMs = terms.renewBeforeMs
  const before =
    wantedMs !== undefined && wantedMs < life ? wantedMs : (life * (terms.renewBeforePercentage ?? 100 / 3)) / 100
  const least = life < hourMs ? life / 10 : 5 * minuteMs
  return Math.max(Math.min(before, life - minuteMs), least)
}

/**
 * Returns the renewal time. It is deterministic: `share` in [0, 1) spreads certificates that were issued together. `now` matters only after
 * the time has passed: a missed window is skipped.
 */
export function renewalTime(validity: Validity, terms: RenewalTerms, share: number, now: Instant): RenewalTime {
  const { notBefore, notAfter } = validity
  const before = renewBeforeMs(validity, terms)
  const life = notAfter - notBefore
  // At most half of the remaining time. Otherwise a certificate that is renewed early in its lifetime would be scheduled before its start.
  const spread = Math.min(before / 4, life / 10, (life - before) / 2)
  const due = wholeSecond(notAfter - before - spread * share)
  if (terms.windows.length === 0) return { at: due, isOutsideWindow: false }
  const from = Math.max(due, now)
  const latest = notAfter - Math.max(dayMs, before / 4)
  const openings = terms.windows.flatMap((window) => opening(window, from) ?? [])
  const at = Math.max(Math.min(...openings), due)
  return at <= latest ? { at, isOutsideWindow: false } : { at: due, isOutsideWindow: true }
}

/** Returns whether the certificate would be renewed as soon as it is issued, and so again and again. */
export const isDueAtOnce = ({ notBefore, notAfter }: Validity, { at }: RenewalTime, now: Instant): boolean =>
  at - now < Math.min(minuteMs, (notAfter - notBefore) / 10)

/** Returns the opening of the window that is open at `from` or opens next. */
function opening({ cron, durationMs, timezone }: RenewalWindow, from: Instant): Instant | undefined {
  return new Cron(cron, { ...cronOptions, timezone }).nextRun(new Date(from - durationMs))?.getTime()
}

/** Only computes times; schedules nothing. */
const cronOptions = { paused: true, mode: "5-part" } as const

/** Returns a fault of the window; undefined if there is none. */
export function windowProblem({ cron, durationMs, timezone }: RenewalWindow): string | undefined {
  if (durationMs < minuteMs) return "duration must be at least 1m"
  try {
    Intl.DateTimeFormat("en", { timeZone: timezone })
  } catch {
    return `timezone ${timezone} is not known`
  }
  try {
    const opens = new Cron(cron, { ...cronOptions, timezone }).nextRun(new Date(0))
    return opens === null ? `cron ${cron} names no time that there is` : undefined
  } catch {
    return `cron ${cron} must be five fields: minute, hour, day of the month, month, day of the week`
  }
}

const wholeSecond = (instant: Instant): Instant => Math.floor(instant / secondMs) * secondMs

export interface FailedIssuance {
  /** Number of consecutive failures, including this one. */
  readonly failures: number
  /** Expiry of the certificate in use; undefined if there is none. */
  readonly notAfter: Instant | undefined
  readonly now: Instant
  /** Random number in [0, 1). */
  readonly chance: number
}

const usableMs = 2 * hourMs
const maxBackoffMs = hourMs
/** Lower bound, so that a certificate close to expiry does not cause constant requests. */
const backoffMinimumMs = 10 * secondMs
const backoffJitter = 0.1
/** More doublings exceed any maximum. */
const maxDoublings = 30

/**
 * Returns the time of the next attempt, in whole seconds. The delay is shorter while the certificate in use is about to expire, and at most
 * a quarter of its remaining time.
 */
export function nextAttempt({ failures, notAfter, now, chance }: FailedIssuance): Instant {
  const left = notAfter === undefined ? 0 : notAfter - now
  const base = left > usableMs ? minuteMs : 30 * secondMs
  const maximum = left > 0 ? Math.min(maxBackoffMs, left / 4) : maxBackoffMs
  const doubled = base * 2 ** Math.min(failures - 1, maxDoublings)
  const delay = Math.min(doubled, maximum) * (1 + backoffJitter * (2 * chance - 1))
  return Math.ceil((now + Math.max(delay, backoffMinimumMs)) / secondMs) * secondMs
}

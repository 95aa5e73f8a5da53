// When a certificate is renewed, and when a failed issuance is tried again: functions of what the certificate says and of chance
// that is handed in.
import { Cron } from "croner"
import type { Instant } from "@chancery/engine"

export interface RenewalWindow {
  readonly cron: string
  readonly durationMs: number
  /** An IANA name. */
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
  /** A whole second, as a status has no more. */
  readonly at: Instant
  /** No window opens early enough. */
  readonly isOutsideWindow: boolean
}

const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** How long before its end a certificate is due; of what was asked for, what fits its life. */
export function renewBeforeMs({ notBefore, notAfter }: Validity, terms: Omit<RenewalTerms, "windows">): number {
  const life = notAfter - notBefore
  const asked = terms.renewBeforeMs
  const before = asked !== undefined && asked < life ? asked : (life * (terms.renewBeforePercentage ?? 100 / 3)) / 100
  const least = life < hourMs ? life / 10 : 5 * minuteMs
  return Math.max(Math.min(before, life - minuteMs), least)
}

/**
 * The same for the same certificate, whoever asks: `share` (at least 0, below 1) spreads those that were issued together, so
 * that they do not come back together. `now` counts only once the time has passed: a window that was missed is gone.
 */
export function renewalTime(validity: Validity, terms: RenewalTerms, share: number, now: Instant): RenewalTime {
  const { notBefore, notAfter } = validity
  const before = renewBeforeMs(validity, terms)
  const life = notAfter - notBefore
  // At most half of what is left, or one that is renewed early in its life would be due before it began.
  const spread = Math.min(before / 4, life / 10, (life - before) / 2)
  const due = wholeSecond(notAfter - before - spread * share)
  if (terms.windows.length === 0) return { at: due, isOutsideWindow: false }
  const from = Math.max(due, now)
  const latest = notAfter - Math.max(dayMs, before / 4)
  const openings = terms.windows.flatMap((window) => opening(window, from) ?? [])
  const at = Math.max(Math.min(...openings), due)
  return at <= latest ? { at, isOutsideWindow: false } : { at: due, isOutsideWindow: true }
}

/** Renewed as soon as it is issued, it would be renewed for ever. */
export const isDueAtOnce = ({ notBefore, notAfter }: Validity, { at }: RenewalTime, now: Instant): boolean =>
  at - now < Math.min(minuteMs, (notAfter - notBefore) / 10)

/** When the window opens that is open at this time or opens next. */
function opening({ cron, durationMs, timezone }: RenewalWindow, from: Instant): Instant | undefined {
  return new Cron(cron, { ...cronOptions, timezone }).nextRun(new Date(from - durationMs))?.getTime()
}

/** Nothing runs by itself: only its times are asked for. */
const cronOptions = { paused: true, mode: "5-part" } as const

/** Undefined when there is nothing wrong with it. */
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
  /** How many attempts in a row have failed, this one included. */
  readonly failures: number
  /** The end of the certificate that is in use; undefined where there is none. */
  readonly notAfter: Instant | undefined
  readonly now: Instant
  /** At least 0, below 1. */
  readonly chance: number
}

const usableMs = 2 * hourMs
const backoffMaximumMs = hourMs
/** However little is left of a certificate, its engine is not asked all the time. */
const backoffMinimumMs = 10 * secondMs
const backoffJitter = 0.1
/** Further doublings reach any maximum. */
const doublingsMaximum = 30

/** When to try again, to the second. Short while the certificate in use is about to end, and never so long that it does. */
export function nextAttempt({ failures, notAfter, now, chance }: FailedIssuance): Instant {
  const left = notAfter === undefined ? 0 : notAfter - now
  const base = left > usableMs ? minuteMs : 30 * secondMs
  const maximum = left > 0 ? Math.min(backoffMaximumMs, left / 4) : backoffMaximumMs
  const doubled = base * 2 ** Math.min(failures - 1, doublingsMaximum)
  const delay = Math.min(doubled, maximum) * (1 + backoffJitter * (2 * chance - 1))
  return Math.ceil((now + Math.max(delay, backoffMinimumMs)) / secondMs) * secondMs
}

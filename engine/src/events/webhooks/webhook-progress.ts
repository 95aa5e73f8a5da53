// Effects of a delivery attempt on its webhook. Only a status from 200 to 299 counts as delivered. Redirects are not followed: the
// receiver, and not the owner of the webhook, would choose where events go.
import type { FetchFailureKind } from "../../core/fetch.ts"
import { hourMs, type Instant, isAhead, minuteMs, secondMs } from "../../core/time.ts"
import type { EventPosition } from "../feed/event.ts"
import type { Webhook } from "./webhook.ts"

/** Result of a delivery attempt. `error` is shown to owners: a status or a kind of failure, and nothing of the response. */
export type DeliveryOutcome =
  | { readonly delivered: true }
  /** `retryAfterMs` is the delay that the receiver has requested. */
  | { readonly delivered: false; readonly error: string; readonly retryAfterMs?: number }

export function outcomeOf(answer: number | FetchFailureKind, retryAfterMs?: number): DeliveryOutcome {
  if (typeof answer === "string") return { delivered: false, error: answer }
  if (answer >= 200 && answer <= 299) return { delivered: true }
  return { delivered: false, error: `status ${answer}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** Attempts before an event is given up. With the delays below, they take one to two hours. */
export const maxAttempts = 8
/** Consecutive events given up, after which a webhook is disabled. */
export const maxDeadInARow = 5

const firstDelayMs = 10 * secondMs
const delayFactor = 3
const longestDelayMs = hourMs

/** Returns the delay before the next attempt. `chance`, from 0 to 1, shortens it by up to half, so that retries do not coincide. */
export const retryDelayMs = (attempts: number, chance: number): number =>
  Math.round(Math.min(longestDelayMs, firstDelayMs * delayFactor ** (attempts - 1)) * (1 - chance / 2))

/** Returns true if the next attempt may start. A time further ahead than any delay was set while a clock was ahead, and is ignored. */
export const isAttemptDue = (dueAt: Instant, now: Instant): boolean =>
  dueAt <= now || isAhead(dueAt, now + longestDelayMs, minuteMs)

export interface ProgressContext {
  readonly position: EventPosition
  readonly now: Instant
  readonly chance: number
}

export interface Step {
  readonly webhook: Webhook
  /** Facts for the dead letter, if the event is given up. */
  readonly letter?: { readonly attempts: number; readonly lastError: string }
  readonly disabled: boolean
}

/** Returns the webhook after an attempt to deliver the event at `position`. */
export function stepAfter(
  webhook: Webhook,
  outcome: DeliveryOutcome,
  { position, now, chance }: ProgressContext,
): Step {
  if (outcome.delivered) {
    const progress = {
      cursor: position,
      pending: null,
      deadInARow: 0,
      lastDeliveredAt: now,
      lastError: null,
      failingSince: null,
    }
    return { webhook: { ...webhook, ...progress }, disabled: false }
  }
  const attempts = attemptsAt(webhook, position) + 1
  const failing = { ...webhook, lastError: outcome.error, failingSince: webhook.failingSince ?? now }
  if (attempts < maxAttempts) {
    // The receiver may delay the next attempt, but not beyond the longest delay of the server.
    const requestedMs = Math.min(outcome.retryAfterMs ?? 0, longestDelayMs)
    const pending = { position, attempts, dueAt: now + Math.max(requestedMs, retryDelayMs(attempts, chance)) }
    return { webhook: { ...failing, pending }, disabled: false }
  }
  const deadInARow = webhook.deadInARow + 1
  const letter = { attempts, lastError: outcome.error }
  const past = { ...failing, cursor: position, pending: null, deadInARow }
  // If the owner disabled the webhook during the attempt, the server does not record a reason of its own.
  if (deadInARow < maxDeadInARow || !webhook.enabled) return { webhook: past, letter, disabled: false }
  const disabledReason = `${deadInARow} events in a row could not be delivered; the last failure was: ${outcome.error}`
  return { webhook: { ...past, enabled: false, disabledReason }, letter, disabled: true }
}

/** Returns 0 if another event was pending: that event was swept while it waited, and its attempts do not count. */
const attemptsAt = ({ pending }: Webhook, { transaction, number }: EventPosition): number =>
  pending?.position.transaction === transaction && pending.position.number === number ? pending.attempts : 0

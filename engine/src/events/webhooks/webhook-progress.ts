// What the answer to a delivery leads to. Nothing but a status from 200 to 299 is a delivery: a redirect is not followed, because
// whoever answers so would choose for the owner where events go.
import type { FetchFailureKind } from "../../core/fetch.ts"
import { hourMs, type Instant, isAhead, minuteMs, secondMs } from "../../core/time.ts"
import type { EventPosition } from "../feed/event.ts"
import type { Webhook } from "./webhook.ts"

/** `error` is shown: a status or a kind of failure, and nothing of what was answered. */
export type DeliveryOutcome =
  | { readonly delivered: true }
  /** With the time for which the receiver does not want to be asked again, where it has said so. */
  | { readonly delivered: false; readonly error: string; readonly retryAfterMs?: number }

export function outcomeOf(answer: number | FetchFailureKind, retryAfterMs?: number): DeliveryOutcome {
  if (typeof answer === "string") return { delivered: false, error: answer }
  if (answer >= 200 && answer <= 299) return { delivered: true }
  return { delivered: false, error: `status ${answer}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** How often an event is tried before it is given up: over one to two hours, with the delays below. */
export const attemptsMaximum = 8
/** Events given up one after another, after which a webhook is disabled. */
export const deadInARowMaximum = 5

const firstDelayMs = 10 * secondMs
const delayFactor = 3
const longestDelayMs = hourMs

/** Before the next attempt, after so many; `chance` from 0 to 1 takes away up to half, so that receivers are not hit by all at once. */
export const retryDelayMs = (attempts: number, chance: number): number =>
  Math.round(Math.min(longestDelayMs, firstDelayMs * delayFactor ** (attempts - 1)) * (1 - chance / 2))

/** Whether the next attempt is due; one put off further than any delay was put off while the clock was ahead. */
export const isAttemptDue = (dueAt: Instant, now: Instant): boolean =>
  dueAt <= now || isAhead(dueAt, now + longestDelayMs, minuteMs)

export interface ProgressContext {
  readonly position: EventPosition
  readonly now: Instant
  readonly chance: number
}

export interface Step {
  readonly webhook: Webhook
  /** What a dead letter says of it, where the event is given up. */
  readonly letter?: { readonly attempts: number; readonly lastError: string }
  readonly disabled: boolean
}

/** How a webhook stands after an attempt to deliver the event at that place. */
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
  if (attempts < attemptsMaximum) {
    // A receiver may put itself off, but not for longer than it would be waited for in the end.
    const askedMs = Math.min(outcome.retryAfterMs ?? 0, longestDelayMs)
    const pending = { position, attempts, dueAt: now + Math.max(askedMs, retryDelayMs(attempts, chance)) }
    return { webhook: { ...failing, pending }, disabled: false }
  }
  const deadInARow = webhook.deadInARow + 1
  const letter = { attempts, lastError: outcome.error }
  const past = { ...failing, cursor: position, pending: null, deadInARow }
  // One that was disabled meanwhile by its owner says nothing of the server's doing.
  if (deadInARow < deadInARowMaximum || !webhook.enabled) return { webhook: past, letter, disabled: false }
  const disabledReason = `${deadInARow} events in a row could not be delivered; the last failure was: ${outcome.error}`
  return { webhook: { ...past, enabled: false, disabledReason }, letter, disabled: true }
}

/** An event that was swept while it waited leaves its attempts to nobody. */
const attemptsAt = ({ pending }: Webhook, { transaction, number }: EventPosition): number =>
  pending?.position.transaction === transaction && pending.position.number === number ? pending.attempts : 0

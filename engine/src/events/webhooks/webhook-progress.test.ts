import { describe, expect, test } from "vitest"
import type { OrganizationId } from "../../core/ids.ts"
import { hourMs, secondMs } from "../../core/time.ts"
import type { Webhook } from "./webhook.ts"
import { maxAttempts, maxDeadInARow, isAttemptDue, outcomeOf, retryDelayMs, stepAfter } from "./webhook-progress.ts"

const webhook: Webhook = {
  id: "whk-1",
  organizationId: "org-1" as OrganizationId,
  name: "deploys",
  url: "https://receiver.example",
  kinds: [],
  workspaces: [],
  tags: [],
  createdAt: 0,
  enabled: true,
  disabledReason: null,
  cursor: { transaction: 0, number: 1 },
  pending: null,
  deadInARow: 0,
  lastDeliveredAt: null,
  lastError: null,
  failingSince: null,
}
const position = { transaction: 0, number: 4 }
const context = { position, now: 1_000, chance: 0 }
const pendingAfter = (attempts: number) => ({ position, attempts, dueAt: 900 })
const failed = outcomeOf(500)

test.each([
  [200, { delivered: true }],
  [204, { delivered: true }],
  [299, { delivered: true }],
  [199, { delivered: false, error: "status 199" }],
  [301, { delivered: false, error: "status 301" }],
  [307, { delivered: false, error: "status 307" }],
  [400, { delivered: false, error: "status 400" }],
  [410, { delivered: false, error: "status 410" }],
  [429, { delivered: false, error: "status 429" }],
  [503, { delivered: false, error: "status 503" }],
  ["timeout", { delivered: false, error: "timeout" }],
  ["refused-address", { delivered: false, error: "refused-address" }],
  ["unresolved", { delivered: false, error: "unresolved" }],
  ["untrusted", { delivered: false, error: "untrusted" }],
  ["broken", { delivered: false, error: "broken" }],
] as const)("an attempt that ends with %s is %o", (answer, outcome) => {
  expect(outcomeOf(answer)).toEqual(outcome)
})

describe("after an attempt", () => {
  test("a delivered event is passed, and earlier failures are cleared", () => {
    const failing = { ...webhook, pending: pendingAfter(3), deadInARow: 4, lastError: "timeout", failingSince: 5 }
    expect(stepAfter(failing, { delivered: true }, context)).toEqual({
      webhook: { ...webhook, cursor: position, lastDeliveredAt: 1_000 },
      disabled: false,
    })
  })

  test("a failed event stays pending, with the time of its next attempt", () => {
    expect(stepAfter(webhook, failed, context)).toEqual({
      webhook: {
        ...webhook,
        pending: { position, attempts: 1, dueAt: 11_000 },
        lastError: "status 500",
        failingSince: 1_000,
      },
      disabled: false,
    })
  })

  test("the time of the first failure is kept", () => {
    const again = stepAfter({ ...webhook, pending: pendingAfter(1), failingSince: 5 }, failed, context)
    expect(again.webhook).toMatchObject({ failingSince: 5, pending: { attempts: 2, dueAt: 31_000 } })
  })

  test("the last failure drops the event and moves to the next", () => {
    const last = { ...webhook, pending: pendingAfter(maxAttempts - 1) }
    expect(stepAfter(last, failed, context)).toMatchObject({
      webhook: { enabled: true, cursor: position, pending: null, deadInARow: 1 },
      letter: { attempts: maxAttempts, lastError: "status 500" },
      disabled: false,
    })
  })

  test("the attempts of an earlier, deleted event do not count", () => {
    const other = { ...webhook, pending: { position: { transaction: 0, number: 2 }, attempts: 7, dueAt: 0 } }
    expect(stepAfter(other, failed, context).webhook.pending).toMatchObject({ position, attempts: 1 })
  })

  test("the last of too many dropped events in a row disables the webhook with a reason", () => {
    const tired = { ...webhook, pending: pendingAfter(maxAttempts - 1), deadInARow: maxDeadInARow - 1 }
    expect(stepAfter(tired, failed, context)).toMatchObject({
      webhook: {
        enabled: false,
        disabledReason: "5 events in a row could not be delivered; the last failure was: status 500",
        cursor: position,
      },
      disabled: true,
    })
    expect(stepAfter({ ...tired, enabled: false }, failed, context)).toMatchObject({
      webhook: { enabled: false, disabledReason: null },
      disabled: false,
    })
  })
})

test.each([
  { asked: 5 * secondMs, delay: 10 * secondMs, why: "less than the server would wait anyway" },
  { asked: 120 * secondMs, delay: 120 * secondMs, why: "more" },
  { asked: 24 * hourMs, delay: hourMs, why: "more than the longest delay" },
])("a receiver requests $why", ({ asked, delay }) => {
  const { pending } = stepAfter(webhook, outcomeOf(503, asked), context).webhook
  expect(pending?.dueAt).toBe(context.now + delay)
})

test.each([
  { dueInMs: 0, isDue: true, why: "its time has passed" },
  { dueInMs: 1, isDue: false, why: "its time is in the future" },
  { dueInMs: hourMs, isDue: false, why: "it waits for the longest delay" },
  { dueInMs: 25 * hourMs, isDue: true, why: "the clock was ahead when it was delayed" },
])("[F-P15] an attempt is due ($isDue) when $why", ({ dueInMs, isDue }) => {
  expect(isAttemptDue(context.now + dueInMs, context.now)).toBe(isDue)
})

test("delays grow to an hour, and jitter shortens them by up to a half", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7].map((attempts) => retryDelayMs(attempts, 0) / secondMs)
  expect(delays).toEqual([10, 30, 90, 270, 810, 2_430, 3_600])
  expect(retryDelayMs(7, 1)).toBe(hourMs / 2)
})

import { describe, expect, test } from "vitest"
import { dayMs, minuteMs } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import {
  assertDecidable,
  assertQueueHasRoom,
  commentFaults,
  type EnrolmentDecider,
  type EnrolmentDecision,
  type EnrolmentId,
  enrolmentOperations,
  enrolmentStates,
  type EnrolmentProgress,
  type EnrolmentState,
  enrolmentStep,
  maxPendingPerMount,
  maxPendingPerRequester,
} from "./enrolment.ts"

const now = 1_000 * dayMs
const id = "enrol-1" as EnrolmentId
const serialNumber = "1f:2e" as SerialNumber

const progress = (change: Partial<EnrolmentProgress> = {}): EnrolmentProgress => ({
  id,
  operation: "simpleenroll",
  policy: "role:web",
  decider: "manual",
  state: "pending",
  expiresAt: now + dayMs,
  retryAfterMs: minuteMs,
  askedAt: now - 10 * minuteMs,
  comment: "no such printer",
  serialNumber: change.state === "issued" ? serialNumber : null,
  ...change,
})
const wait = { kind: "wait", id, retryAfterMs: minuteMs }
const sign = { kind: "sign", id }
const issued = { kind: "issued", id, serialNumber }
const denied = { kind: "denied", id, comment: "no such printer" }
const fresh = { kind: "new" }

describe("enrolmentStep returns", () => {
  test.each<{ why: string; change: Partial<EnrolmentProgress>; step: object }>([
    { why: "wait when approval is pending", change: {}, step: wait },
    { why: "sign when approved", change: { state: "approved" }, step: sign },
    { why: "the serial number when issued", change: { state: "issued" }, step: issued },
    { why: "the comment when denied", change: { state: "denied" }, step: denied },
    {
      why: "new when a server-made key was issued",
      change: { state: "issued", operation: "serverkeygen" },
      step: fresh,
    },
    {
      why: "sign when a server-made key is approved",
      change: { state: "approved", operation: "serverkeygen" },
      step: sign,
    },
    { why: "ask when the service's pause is over", change: { decider: "external-policy" }, step: { kind: "ask", id } },
    {
      why: "wait for the rest of the service's pause",
      change: { decider: "external-policy", askedAt: now - 20_000 },
      step: { ...wait, retryAfterMs: 40_000 },
    },
    {
      why: "wait no longer than the service's pause when a clock steps back",
      change: { decider: "external-policy", askedAt: now + dayMs },
      step: wait,
    },
    { why: "new when approval is pending for another policy", change: { policy: "sign-verbatim" }, step: fresh },
    { why: "new when approved for another policy", change: { policy: "role:other", state: "approved" }, step: fresh },
    { why: "new when denied for another policy", change: { policy: "role:other", state: "denied" }, step: fresh },
    {
      why: "the serial number when issued by another policy",
      change: { policy: "role:other", state: "issued" },
      step: issued,
    },
  ])("$why", ({ change, step }) => {
    expect(enrolmentStep(progress(change), "role:web", now)).toEqual(step)
  })

  test("new when there is no enrolment", () => {
    expect(enrolmentStep(undefined, "role:web", now)).toEqual(fresh)
  })

  test.each(enrolmentStates.flatMap((state) => enrolmentOperations.map((operation) => ({ state, operation }))))(
    "new when an enrolment for $operation is $state and has expired",
    ({ state, operation }) => {
      expect(enrolmentStep(progress({ state, operation, expiresAt: now }), "role:web", now)).toEqual(fresh)
    },
  )
})

describe("assertDecidable", () => {
  type Case = readonly [EnrolmentState, EnrolmentDecision, string]
  test.each<Case>([
    ["pending", "approved", "changes it"],
    ["pending", "denied", "changes it"],
    ["approved", "approved", "changes nothing"],
    ["approved", "denied", "The enrolment was approved already; this is final until it expires."],
    ["denied", "denied", "changes nothing"],
    ["denied", "approved", "The enrolment was denied already; this is final until it expires."],
    ["issued", "approved", "changes nothing"],
    ["issued", "denied", "The certificate of this enrolment was issued; revoke it instead."],
  ])("of an enrolment that is %s, when it is to be %s: %s", (state, decision, result) => {
    expect(resultOf(() => assertDecidable(progress({ state }), decision, now))).toBe(result)
  })

  const decisions = ["approved", "denied"] as const
  test.each(enrolmentStates.flatMap((state) => decisions.map((decision) => ({ state, decision }))))(
    "throws when an enrolment that is $state has expired or waits for the service, and is to be $decision",
    ({ state, decision }) => {
      const expired = progress({ state, expiresAt: now })
      expect(() => assertDecidable(expired, decision, now)).toThrow(/has expired/)
      const decider: EnrolmentDecider = "external-policy"
      expect(() => assertDecidable(progress({ state, decider }), decision, now)).toThrow(/external policy service/)
    },
  )
})

function resultOf(decide: () => boolean): string {
  try {
    return decide() ? "changes it" : "changes nothing"
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  { ofMount: maxPendingPerMount, ofRequester: 0, text: /of this mount/ },
  { ofMount: maxPendingPerMount, ofRequester: maxPendingPerRequester, text: /of this client/ },
  { ofMount: 100, ofRequester: maxPendingPerRequester, text: /of this client/ },
])(
  "assertQueueHasRoom throws when $ofMount of the mount and $ofRequester of the client wait",
  ({ text, ...pending }) => {
    expect(() => assertQueueHasRoom(pending)).toThrow(text)
  },
)

test("assertQueueHasRoom accepts one less", () => {
  const pending = { ofMount: maxPendingPerMount - 1, ofRequester: maxPendingPerRequester - 1 }
  expect(assertQueueHasRoom(pending)).toBeUndefined()
})

test("commentFaults rejects long comments and control characters", () => {
  expect(commentFaults("ticket 7")).toEqual([])
  expect(commentFaults("x".repeat(1_025))).toMatchObject([{ field: ["comment"] }])
  expect(commentFaults("a\nb")).toMatchObject([{ field: ["comment"] }])
})

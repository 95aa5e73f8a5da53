import { expect, test } from "vitest"
import { manualClock } from "../../../testing/manual-clock.ts"
import { secondMs } from "../../core/time.ts"
import { FailedLoginLimit } from "./failed-login-limit.ts"

function limited() {
  const clock = manualClock(Date.UTC(2026, 10, 27))
  const limit = new FailedLoginLimit(clock)
  const fail = (address: string | undefined, times: number) => {
    for (let time = 0; time < times; time += 1) limit.count(address)
  }
  return { clock, limit, fail }
}

function isRejected(limit: FailedLoginLimit, address: string | undefined): boolean {
  try {
    limit.assertAllowed(address)
    return false
  } catch {
    return true
  }
}

test("an address is rejected after 100 failures, and gets one more attempt each 6 seconds", () => {
  const { clock, limit, fail } = limited()
  fail("192.0.2.1", 99)
  limit.assertAllowed("192.0.2.1")
  fail("192.0.2.1", 1)
  expect(() => limit.assertAllowed("192.0.2.1")).toThrow(
    expect.objectContaining({ code: "rate-limited", retryAfterMs: 6 * secondMs }),
  )
  clock.advance(6 * secondMs)
  limit.assertAllowed("192.0.2.1")
  fail("192.0.2.1", 1)
  expect(() => limit.assertAllowed("192.0.2.1")).toThrow("too many failed logins")
})

test.each([
  ["another address", "192.0.2.1", "192.0.2.2", false],
  ["the same address as IPv6", "192.0.2.1", "::ffff:192.0.2.1", true],
  ["an address of the same /64", "2001:db8::1", "2001:db8::ffff:2", true],
  ["an address of another /64", "2001:db8::1", "2001:db8:0:1::1", false],
  ["an unknown address", "192.0.2.1", undefined, false],
])("failures of one address count for %s: %s, %s", (_, failing, other, counts) => {
  const { limit, fail } = limited()
  fail(failing, 100)
  expect(isRejected(limit, other)).toBe(counts)
})

test("clients without an address are not limited", () => {
  const { limit, fail } = limited()
  fail(undefined, 200)
  expect(() => limit.assertAllowed(undefined)).not.toThrow()
})

import { expect, test } from "vitest"
import { minuteMs, secondMs } from "../../core/time.ts"
import { authMethodFaults, initialAuthMethodConfig } from "./auth-method.ts"
import { afterFailure, type FailedLogins, initialUserLockout, isLocked, noFailedLogins } from "./user-lockout.ts"

const now = Date.UTC(2026, 10, 27)
const failed = (count: number, agoMs: number): FailedLogins => ({ count, lastAt: now - agoMs })

test.each<readonly [string, FailedLogins, object, boolean]>([
  ["nothing failed", noFailedLogins, {}, false],
  ["one failure is missing", failed(4, 0), {}, false],
  ["the threshold is reached", failed(5, 0), {}, true],
  ["the threshold is exceeded", failed(6, 0), {}, true],
  ["the lock ends in a millisecond", failed(5, 15 * minuteMs - 1), {}, true],
  ["the lock has just ended", failed(5, 15 * minuteMs), {}, false],
  ["the threshold was raised", failed(5, 0), { threshold: 6 }, false],
  ["the duration was shortened", failed(5, minuteMs), { durationMs: minuteMs }, false],
  ["the lockout is disabled", failed(5, 0), { disabled: true }, false],
])("isLocked is right when %s", (_, failures, changed, locked) => {
  expect(isLocked(failures, { ...initialUserLockout, ...changed }, now)).toBe(locked)
})

test.each<readonly [string, FailedLogins, object, number]>([
  ["it is the first", noFailedLogins, {}, 1],
  ["another was a moment before", failed(1, 0), {}, 2],
  ["it locks the user", failed(4, 14 * minuteMs), {}, 5],
  ["the counter is about to be reset", failed(3, 15 * minuteMs - 1), {}, 4],
  ["the counter was reset", failed(3, 15 * minuteMs), {}, 1],
  ["a lock has ended that was shorter than the reset", failed(5, minuteMs), { durationMs: minuteMs }, 1],
])("afterFailure counts when %s", (_, failures, changed, count) => {
  expect(afterFailure(failures, { ...initialUserLockout, ...changed }, now)).toEqual({ count, lastAt: now })
})

test.each<readonly [string, "userpass" | "approle", object, string]>([
  ["a method has none", "approle", {}, ""],
  ["it is that of userpass", "userpass", { threshold: 1, durationMs: secondMs, counterResetMs: secondMs }, ""],
  ["a method of another type has one", "approle", { threshold: 3 }, "is supported only by"],
  ["the threshold is zero", "userpass", { threshold: 0 }, '"lockout_threshold" from 1 to 1000'],
  ["the threshold is too large", "userpass", { threshold: 1_001 }, '"lockout_threshold"'],
  ["the threshold is a fraction", "userpass", { threshold: 1.5 }, '"lockout_threshold"'],
  ["the duration is zero", "userpass", { durationMs: 0 }, '"lockout_duration"'],
  ["the duration has half a second", "userpass", { durationMs: 1_500 }, '"lockout_duration"'],
  ["the reset is too long", "userpass", { counterResetMs: 1e12 }, '"lockout_counter_reset"'],
])("a lockout is judged when %s", (_, type, userLockout, detail) => {
  const config = { ...initialAuthMethodConfig, userLockout }
  const faults = authMethodFaults({ type, description: "", options: {}, config })
  expect(faults.map(({ field }) => field)).toEqual(detail === "" ? [] : [["userLockout"]])
  expect(faults.map((fault) => fault.detail).join("; ")).toContain(detail)
})

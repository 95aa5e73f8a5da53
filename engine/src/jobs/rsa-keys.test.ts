import { expect, test } from "vitest"
import { systemTimers } from "../core/timers.ts"
import { manualClock } from "../../testing/manual-clock.ts"
import { manualTimers } from "../../testing/manual-timers.ts"
import { keyGenerator } from "../x509/key-generation.ts"
import { readPrivateKey } from "../x509/private-key.ts"
import { openRsaKeys } from "./rsa-keys.ts"

test("threads generate different keys with matching halves", async () => {
  using rsa = openRsaKeys({ threadCount: 2, timers: systemTimers })
  const { generate } = keyGenerator(rsa)
  const keys = await Promise.all(Array.from({ length: 5 }, () => generate({ type: "rsa", bits: 2048 })))
  expect(new Set(keys.map((key) => readPrivateKey(key.der("traditional")).pem("pkcs8"))).size).toBe(5)
  expect(keys.map(({ algorithm }) => algorithm)).toEqual(keys.map(() => ({ type: "rsa", bits: 2048 })))
})

test("an idle thread ends, and another starts for the next key", async () => {
  const clock = manualClock(0)
  const timers = manualTimers(clock)
  using rsa = openRsaKeys({ threadCount: 1, timers })
  await rsa.generate(2048)
  expect(timers.pendingCount).toBe(1)
  await timers.advance(29_999)
  expect(timers.pendingCount).toBe(1)
  await rsa.generate(2048)
  await timers.advance(29_999)
  expect(timers.pendingCount).toBe(1)
  await timers.advance(1)
  expect(timers.pendingCount).toBe(0)
  expect((await rsa.generate(2048)).spki.length).toBeGreaterThan(256)
})

test("a thread that fails rejects its own request only", async () => {
  using rsa = openRsaKeys({ threadCount: 1, timers: systemTimers })
  const [impossible, possible] = await Promise.allSettled([rsa.generate(-1), rsa.generate(2048)])
  expect(impossible).toMatchObject({ reason: { message: expect.stringContaining("options.modulusLength") } })
  expect(possible.status).toBe("fulfilled")
})

test("the stock is filled before the first request", async () => {
  using rsa = openRsaKeys({ threadCount: 2, timers: systemTimers, stock: new Map([[2048, 3]]) })
  await expect.poll(() => rsa.readyCount(2048)).toBe(3)
})

test("waiting requests are rejected at the end", async () => {
  const rsa = openRsaKeys({ threadCount: 1, timers: systemTimers })
  const rejected = [rsa.generate(2048), rsa.generate(2048)].map((waiting) =>
    expect(waiting).rejects.toMatchObject({ code: "unavailable" }),
  )
  rsa[Symbol.dispose]()
  await Promise.all(rejected)
})

test("the process keeps its own priority", async () => {
  const { getPriority } = await import("node:os")
  const before = getPriority()
  using rsa = openRsaKeys({ threadCount: 1, timers: systemTimers })
  await rsa.generate(2048)
  expect(getPriority()).toBe(before)
})

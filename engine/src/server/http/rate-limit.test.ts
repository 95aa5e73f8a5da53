import { describe, expect, test } from "vitest"
import { networkOf, rateLimiter, take } from "./rate-limit.ts"

describe("a bucket", () => {
  test.each([
    { why: "a new bucket is full", bucket: undefined, now: 0, allowed: true, remaining: 29, resetSeconds: 0.033 },
    { why: "the last request", bucket: { level: 1, at: 0 }, now: 0, allowed: true, remaining: 0, resetSeconds: 1 },
    {
      why: "an empty bucket rejects",
      bucket: { level: 0, at: 0 },
      now: 0,
      allowed: false,
      remaining: 0,
      resetSeconds: 1,
    },
    {
      why: "less than one request has refilled",
      bucket: { level: 0, at: 0 },
      now: 33,
      allowed: false,
      remaining: 0,
      resetSeconds: 0.967,
    },
    {
      why: "one request has refilled",
      bucket: { level: 0, at: 0 },
      now: 34,
      allowed: true,
      remaining: 0,
      resetSeconds: 0.999,
    },
    {
      why: "half a second later",
      bucket: { level: 0, at: 0 },
      now: 500,
      allowed: true,
      remaining: 14,
      resetSeconds: 0.533,
    },
    {
      why: "at most one second's worth refills",
      bucket: { level: 0, at: 0 },
      now: 60_000,
      allowed: true,
      remaining: 29,
      resetSeconds: 0.033,
    },
    {
      why: "a clock that steps back empties nothing",
      bucket: { level: 10, at: 5_000 },
      now: 0,
      allowed: true,
      remaining: 9,
      resetSeconds: 0.7,
    },
  ])("answers allowed=$allowed with $remaining left: $why", ({ bucket, now, allowed, remaining, resetSeconds }) => {
    const { allowance } = take(bucket, now, 30)
    expect(allowance).toEqual({ allowed, limit: 30, remaining, resetSeconds })
  })
})

describe("a limiter", () => {
  const address = "192.0.2.1"

  test("counts each address separately", () => {
    const limiter = rateLimiter(2)
    const charge = (from: string) => limiter.charge({ credential: undefined, address: from, now: 0 }).allowed
    expect([charge(address), charge(address), charge(address), charge("192.0.2.2")]).toEqual([true, true, false, true])
  })

  test("charges unproved credentials to their address, so that guessing tokens gains nothing", () => {
    const limiter = rateLimiter(2)
    const guess = (credential: string) => limiter.charge({ credential, address, now: 0 }).allowed
    expect([guess("a"), guess("b"), guess("c")]).toEqual([true, true, false])
  })

  test("gives a proved credential its own bucket, which counts its first request", () => {
    const limiter = rateLimiter(3)
    const charge = () => limiter.charge({ credential: "a", address, now: 0 })
    expect(charge().remaining).toBe(2)
    limiter.prove("a", 0)
    expect([charge(), charge(), charge()].map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 1],
      [true, 0],
      [false, 0],
    ])
    expect(limiter.charge({ credential: undefined, address, now: 0 }).allowed).toBe(true)
  })

  test("drops the least recently used address at its maximum", () => {
    const limiter = rateLimiter(1)
    const charge = (from: string) => limiter.charge({ credential: undefined, address: from, now: 0 }).allowed
    charge("first")
    charge("kept")
    for (let thousands = 0; thousands < 40; thousands += 1) {
      for (let index = 0; index < 1_000; index += 1) charge(`host-${thousands}-${index}`)
      expect(charge("kept")).toBe(false)
    }
    expect(charge("first")).toBe(true)
  })
})

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["local", "local"],
])("the address %s is counted as %s", (address, network) => {
  expect(networkOf(address)).toBe(network)
})

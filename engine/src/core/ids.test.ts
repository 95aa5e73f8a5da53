import { describe, expect, test } from "vitest"
import { newId, newOrderedId } from "./ids.ts"
import { systemRuntime } from "./runtime.ts"

const { random } = systemRuntime()

describe("an id", () => {
  test("is its prefix and 16 unambiguous characters, as in HCP Terraform", () => {
    expect(newId("ws", random)).toMatch(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/)
    expect(newOrderedId("order", random, Date.UTC(2026, 0))).toMatch(/^order-[1-9A-HJ-NP-Za-km-z]{16}$/)
  })

  test("is unique, also within one millisecond", () => {
    const made = Array.from({ length: 1_000 }, () => newOrderedId("authz", random, 1))
    expect(new Set(made).size).toBe(made.length)
  })

  test("that is ordered sorts after all earlier ones", () => {
    const instants = [0, 1, 57, 58, 59, 1_000, Date.UTC(1999, 11), Date.UTC(2026, 10, 22), Date.UTC(2026, 10, 22) + 1]
    const made = [...instants, Date.UTC(2999, 0)].map((now) => newOrderedId("order", random, now))
    expect(made.toSorted()).toEqual(made)
  })
})

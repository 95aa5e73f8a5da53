import { expect, test } from "vitest"
import { ReadYourWrites } from "./read-your-writes.ts"

test.each([
  { cached: "9", waits: true, why: "the watch shows an older version, though its text sorts later" },
  { cached: "10", waits: false, why: "the watch shows the own write" },
  { cached: "11", waits: false, why: "another client wrote afterwards" },
  { cached: undefined, waits: true, why: "the watch shows no version" },
  { cached: "a9", waits: false, why: "versions that are not numbers are ignored" },
])("$why", ({ cached, waits }) => {
  const writes = new ReadYourWrites(() => 0)
  writes.remember("a/one", "10")
  expect(writes.waitMs("a/one", cached)).toBe(waits ? 5_000 : 0)
})

test("ReadYourWrites waits at most five seconds for the watch", () => {
  let now = 0
  const writes = new ReadYourWrites(() => now)
  writes.remember("a/one", "10")
  now = 4_000
  expect(writes.waitMs("a/one", "9")).toBe(1_000)
  now = 5_000
  expect(writes.waitMs("a/one", "9")).toBe(0)
  now = 0
  expect(writes.waitMs("a/one", "9")).toBe(0)
})

test("ReadYourWrites does not wait for deleted objects", () => {
  const writes = new ReadYourWrites(() => 0)
  writes.remember("a/one", "10")
  writes.forget("a/one")
  expect(writes.waitMs("a/one", "9")).toBe(0)
})

test("ReadYourWrites recognizes its own write in the watch once, and no earlier or later write", () => {
  const writes = new ReadYourWrites(() => 0)
  writes.remember("secrets/a/one", "10", "certificates/a/one")
  expect(writes.writerOf("secrets/a/one", "9")).toBeUndefined()
  expect(writes.writerOf("secrets/a/two", "10")).toBeUndefined()
  expect(writes.writerOf("secrets/a/one", "10")).toBe("certificates/a/one")
  expect(writes.waitMs("secrets/a/one", "9")).toBe(0)
  expect(writes.writerOf("secrets/a/one", "10")).toBeUndefined()
})

import { expect, test } from "vitest"
import { VersionedCache } from "./versioned-cache.ts"

test("a versioned cache returns a value while its version is current, and reads no version when it is empty", async () => {
  const cache = new VersionedCache<string, { readonly version: number; readonly name: string }>(2)
  let reads = 0
  const version = (number: number) => async () => {
    reads += 1
    return number
  }
  expect([await cache.current("a", version(1)), reads]).toEqual([undefined, 0])
  cache.keep("a", { version: 1, name: "one" })
  expect(await cache.current("a", version(1))).toEqual({ version: 1, name: "one" })
  expect(await cache.current("a", version(2))).toBeUndefined()
  expect([cache.at("a", 1)?.name, cache.at("a", 2), cache.peek("a")?.name]).toEqual(["one", undefined, "one"])
})

test("a versioned cache keeps the newest value when an older one arrives later", () => {
  const cache = new VersionedCache<string, { readonly version: number }>(2)
  for (const version of [2, 1]) cache.keep("a", { version })
  expect(cache.peek("a")).toEqual({ version: 2 })
})

test("a versioned cache evicts the least recently used value when it is full", () => {
  const cache = new VersionedCache<string, { readonly version: number }>(2)
  cache.keep("a", { version: 1 })
  cache.keep("b", { version: 1 })
  cache.peek("a")
  cache.keep("c", { version: 1 })
  expect(["a", "b", "c"].map((key) => cache.peek(key) !== undefined)).toEqual([true, false, true])
})

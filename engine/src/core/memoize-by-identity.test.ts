import { expect, test } from "vitest"
import { memoizeByIdentity } from "./memoize-by-identity.ts"

test("a derived value is computed once for an object, and apart for an equal one", () => {
  let computed = 0
  const sizeOf = memoizeByIdentity((list: readonly string[]) => {
    computed += 1
    return list.length
  })
  const list = ["a", "b"]
  expect([sizeOf(list), sizeOf(list), sizeOf([...list])]).toEqual([2, 2, 2])
  expect(computed).toBe(2)
})

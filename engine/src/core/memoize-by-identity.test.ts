import { expect, test } from "vitest"
import { memoizeByIdentity } from "./memoize-by-identity.ts"

test("a memoized value is computed once per object, and separately for an equal object", () => {
  let computed = 0
  const sizeOf = memoizeByIdentity((list: readonly string[]) => {
    computed += 1
    return list.length
  })
  const list = ["a", "b"]
  expect([sizeOf(list), sizeOf(list), sizeOf([...list])]).toEqual([2, 2, 2])
  expect(computed).toBe(2)
})

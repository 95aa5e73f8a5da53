import { isDeepStrictEqual } from "node:util"
import { assert, constant, jsonValue, oneof, property, tuple } from "fast-check"
import { expect, test } from "vitest"
import { sameJson } from "./same-value.ts"

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, turned(member)]),
  )
}

test("sameJson ignores the order of members only", () => {
  const values = jsonValue().map(plain)
  assert(property(values, (value) => sameJson(value, turned(value))))
  const pairs = oneof(tuple(values, values), tuple(constant({ a: [1, { b: null }] }), values))
  assert(property(pairs, ([a, b]) => sameJson(a, b) === isDeepStrictEqual(a, b)))
})

test.each([
  { a: undefined, b: null, same: true },
  { a: { env: "prod" }, b: { env: "prod", tier: undefined }, same: true },
  { a: { env: "prod", tier: "1" }, b: { env: "prod", team: "1" }, same: false },
  { a: { env: "prod" }, b: { env: "prod", tier: "1" }, same: false },
  { a: { env: undefined }, b: { tier: "1" }, same: false },
  { a: [1, 2], b: [2, 1], same: false },
  { a: [], b: {}, same: false },
  { a: {}, b: null, same: false },
])("$a and $b: $same", ({ a, b, same }) => {
  expect([sameJson(a, b), sameJson(b, a)]).toEqual([same, same])
})

import { expect, test } from "vitest"
import { belongsTo, parseShard } from "./shard.ts"

test.each([
  { text: "0/1", shard: { index: 0, count: 1 } },
  { text: "3/4", shard: { index: 3, count: 4 } },
  { text: "255/256", shard: { index: 255, count: 256 } },
  { text: "4/4", shard: undefined },
  { text: "0/0", shard: undefined },
  { text: "0/257", shard: undefined },
  { text: "-1/4", shard: undefined },
  { text: "1", shard: undefined },
])("$text is $shard", ({ text, shard }) => {
  expect(parseShard(text)).toEqual(shard)
})

test("each object belongs to one shard, and shards are of about the same size", () => {
  const count = 4
  const sizes = Array.from({ length: count }, () => 0)
  for (let number = 0; number < 10_000; number += 1) {
    const object = { metadata: { name: "one", uid: `5f1c9a7e-0000-4000-8000-${String(number).padStart(12, "0")}` } }
    const shards = [...sizes.keys()].filter((index) => belongsTo({ index, count }, object))
    const [only, ...others] = shards
    expect(others).toEqual([])
    sizes[only!]! += 1
  }
  for (const size of sizes) expect(Math.abs(size - 2_500)).toBeLessThan(500)
})

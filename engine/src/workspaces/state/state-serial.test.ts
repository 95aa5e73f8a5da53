import { array, assert, asyncProperty, integer, nat } from "fast-check"
import { expect, test } from "vitest"
import { bytesOf } from "../../../testing/state-file.ts"
import { stateHeaderReader } from "./state-parser.ts"
import { withSerial } from "./state-version-rules.ts"

async function* cut(text: string, lengths: readonly number[]) {
  const bytes = Buffer.from(text)
  for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
    const length = lengths[piece % lengths.length] ?? 1
    yield bytes.subarray(at, at + length)
    at += length
  }
}

const placesIn = (text: string) => {
  const reader = stateHeaderReader()
  reader.write(Buffer.from(text))
  return reader.end().serialPlaces
}

test("rewriting the serial changes only the state's own serial, at any chunk boundary", async () => {
  const lengths = array(integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 })
  await assert(
    asyncProperty(nat(), nat(), lengths, async (before, after, sizes) => {
      const of = (serial: number) =>
        `{ "ü": {"serial": 3}, "version": 4,\n"serial" :${serial}, "resources": [{"serial": 5}], "lineage": "serial" }`
      const changed = await bytesOf(withSerial(cut(of(before), sizes), placesIn(of(before)), after))
      expect(changed.toString()).toBe(of(after))
    }),
  )
})

test("rewriting the serial changes every duplicate of it", async () => {
  const of = (one: number, two: number) => `{"version":4,"serial":${one},"serial":${two}}`
  const changed = await bytesOf(withSerial(cut(of(1, 22), [100]), placesIn(of(1, 22)), 333))
  expect(changed.toString()).toBe(of(333, 333))
})

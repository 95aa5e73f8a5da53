import { expect, test } from "vitest"
import { releaseMemory, releaseWholeMemory, oneAtATime } from "./chunks.ts"

const large = 64 * 1024

test("the memory of a chunk is released at once when the chunk is all of it, and kept when it may be shared", () => {
  const own = new Uint8Array(large)
  const [part, short, shared] = [
    new Uint8Array(new ArrayBuffer(large * 2), 0, large),
    Buffer.from("short"),
    new Uint8Array(new SharedArrayBuffer(large)),
  ]
  for (const piece of [own, own, part, short, shared]) releaseMemory(piece)
  expect([own, part, short, shared].map(({ length }) => length)).toEqual([0, large, 5, large])
})

test("memory longer than its chunk is released whole, except pools and shared memory", () => {
  const memory = new ArrayBuffer(large * 4)
  const [piece, other] = [new Uint8Array(memory, 0, large), new Uint8Array(memory, large, large)]
  const [pooled, shared] = [Buffer.from("short"), new Uint8Array(new SharedArrayBuffer(large * 4))]
  expect(pooled.buffer.byteLength).toBeGreaterThan(pooled.length)
  for (const one of [piece, other, pooled, shared]) releaseWholeMemory(one)
  expect([piece, other, pooled, shared].map(({ length }) => length)).toEqual([0, 0, 5, large * 4])
})

test("a chunk is valid until the next one is requested", async () => {
  async function* source() {
    for (let index = 0; index < 3; index += 1) yield new Uint8Array(large).fill(index)
  }
  const seen: Uint8Array[] = []
  for await (const piece of oneAtATime(source())) {
    expect(piece[large - 1]).toBe(seen.length)
    seen.push(piece)
    expect(seen.map(({ length }) => length)).toEqual(seen.map((_, index) => (index === seen.length - 1 ? large : 0)))
  }
  expect(seen).toHaveLength(3)
})

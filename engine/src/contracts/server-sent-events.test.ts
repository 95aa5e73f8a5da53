import { expect, test } from "vitest"
import { streamBlocks } from "./server-sent-events.ts"

async function* inPieces(...pieces: readonly string[]) {
  for (const piece of pieces) yield Buffer.from(piece)
}

async function blocksOf(...pieces: readonly string[]) {
  const blocks = []
  for await (const block of streamBlocks(inPieces(...pieces))) blocks.push(block)
  return blocks
}

test("the reader returns complete events at any chunk boundary, and no incomplete event", async () => {
  const text =
    'retry: 1\n: hello\n\nid: c0-1\nevent: e\ndata: {"a": "é"}\r\n\r\n: beat\nid: c0-2\n\nid: c0-3\ndata: lost'
  const expected = [
    { id: undefined, data: undefined },
    { id: "c0-1", data: '{"a": "é"}' },
    { id: "c0-2", data: undefined },
  ]
  expect(await blocksOf(text)).toEqual(expected)
  expect(await blocksOf(...text.split(""))).toEqual(expected)
})

test("the reader joins data lines, and rejects an event that is too long", async () => {
  expect(await blocksOf("data: a\ndata:b\n\n")).toEqual([{ id: undefined, data: "a\nb" }])
  await expect(blocksOf(`data: ${"x".repeat(2 ** 20)}`, "y")).rejects.toMatchObject({ code: "unavailable" })
})

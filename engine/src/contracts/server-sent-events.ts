// Server-sent events (HTML Living Standard, 9.2). Only ids and data of blocks are read.
import { unavailable } from "../core/errors.ts"

export interface StreamBlock {
  readonly id: string | undefined
  /** Undefined for a block without an event, which is a heartbeat or carries only an id. */
  readonly data: string | undefined
}

/** Maximum length of a block in characters. No event of this server is longer. */
const maxBlock = 1024 * 1024

/**
 * Yields the blocks of a stream, whose lines end in LF or CRLF. Lines after the last empty line are an incomplete block and are dropped.
 * Throws `unavailable` if a block is too long.
 */
export async function* streamBlocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<StreamBlock, void, undefined> {
  const utf8 = new TextDecoder()
  let rest = ""
  let block = newBlock()
  for await (const piece of pieces) {
    rest += utf8.decode(piece, { stream: true })
    const lines = rest.split("\n")
    rest = lines.pop() ?? ""
    if (rest.length + block.length > maxBlock)
      throw unavailable("The server's answer cannot be read: an event is too long.")
    for (const line of lines) {
      const text = line.endsWith("\r") ? line.slice(0, -1) : line
      if (text !== "") {
        block.take(text)
        continue
      }
      yield block.done()
      block = newBlock()
    }
  }
}

function newBlock() {
  let id: string | undefined
  const data: string[] = []
  let length = 0
  return {
    get length() {
      return length
    },
    take(line: string) {
      length += line.length
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
      if (name === "id") id = value
      if (name === "data") data.push(value)
    },
    done: (): StreamBlock => ({ id, data: data.length === 0 ? undefined : data.join("\n") }),
  }
}

// Reads request bodies within bounds.
import type { IncomingMessage } from "node:http"
import { EngineError, badRequest } from "../../core/errors.ts"
import { releaseMemory } from "../../core/chunks.ts"
import type { HttpRequest } from "./message.ts"

/** Reads the whole body. Throws `too-large` above `limitBytes`. Counts the bytes received, because a declared length can be wrong. */
export async function boundedBytes(request: HttpRequest, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new EngineError("too-large", `The body is larger than ${limitBytes} bytes.`)
  if (Number(request.headers.get("content-length")) > limitBytes) throw tooLarge()
  const arrived = request.arrived()
  if (arrived === undefined) return gathered(request.stream(), limitBytes, tooLarge)
  if (arrived.length > limitBytes) throw tooLarge()
  return arrived
}

/** Reads a whole stream. Copies each chunk, because a chunk is valid only until the next one. Throws `tooLarge()` above `limitBytes`. */
export async function gathered(
  stream: AsyncIterable<Uint8Array>,
  limitBytes: number,
  tooLarge: () => EngineError,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of stream) {
    total += chunk.length
    if (total > limitBytes) throw tooLarge()
    chunks.push(new Uint8Array(chunk))
  }
  return Buffer.concat(chunks)
}

/** Yields the chunks of a body, without a bound. Throws `bad-request` if the body ends early. */
export async function* bodyStream({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  let isRead = false
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(bodyCutShort)
      isRead = done
      if (done) return
      yield value
    }
  } finally {
    // The response states the reason to the client. The rest of the body is not read.
    if (!isRead) await reader.cancel().catch(() => {})
  }
}

/**
 * Returns the whole body if it arrived together with the head, as most small bodies do. Listening for chunks would cost as much as all
 * other reading of a small request. Returns undefined if the body is incomplete or was read before.
 */
export function arrivedBody(incoming: IncomingMessage): Uint8Array | undefined {
  const { complete, destroyed, headers, readableDidRead, readableLength } = incoming
  if (readableDidRead || destroyed) return undefined
  // The parser sets `complete` only after callbacks of the last chunk have run, so a declared length is compared too.
  if (!complete && readableLength !== Number(headers["content-length"])) return undefined
  // Newer releases of Node return only the first chunk from `read()` without a length.
  const bytes = (readableLength === 0 ? null : (incoming.read(readableLength) as Uint8Array | null)) ?? new Uint8Array()
  // Without an `end` listener, an unread stream would keep Node from reusing the connection.
  incoming.resume()
  return bytes
}

/** Yields the chunks of a body from a socket, without web streams. Throws `bad-request` if the body ends early. */
export async function* socketBody(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  // The response still needs the socket if the caller stops reading early.
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch(bodyCutShort)
      if (done === true) return
      yield value
      releaseMemory(value)
    }
  } finally {
    await pieces.return?.()
  }
}

/** Bounds on reading a body after its request was answered. A client within them is about to read the response. */
const maxDiscardedBytes = 64 * 1024 * 1024
const discardTimeoutMs = 500

/**
 * Reads and drops the rest of an answered request's body, so that the connection can be reused. Closes the connection at the bounds above.
 */
export function discardBody(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return
  if (!incoming.complete) {
    let length = 0
    const end = (): void => incoming.socket.destroySoon()
    const timer = setTimeout(end, discardTimeoutMs).unref()
    incoming.on("data", (chunk: Uint8Array) => {
      length += chunk.length
      if (length > maxDiscardedBytes) end()
    })
    incoming.once("close", () => clearTimeout(timer))
  }
  incoming.resume()
}

/** Throws `bad-request`: the client disconnected or its connection was cut, so this is no failure of the server. */
function bodyCutShort(): never {
  throw badRequest("The body ended before it was complete.")
}

/** Yields `bytes` as a single chunk. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

// The bytes of a request's body, up to a bound.
import type { IncomingMessage } from "node:http"
import { EngineError, badRequest } from "../core/errors.ts"
import type { Exchange } from "./exchange.ts"

/** Counts what arrives: a declared length can lie. */
export async function boundedBytes(
  request: Request,
  { whole }: Pick<Exchange, "whole">,
  limitBytes: number,
): Promise<Uint8Array> {
  const tooLarge = () => new EngineError("too-large", `The body is larger than ${limitBytes} bytes.`)
  const declared = request.headers.get("content-length")
  if (declared !== null && Number(declared) > limitBytes) throw tooLarge()
  const there = whole?.()
  if (there !== undefined) {
    if (there.length > limitBytes) throw tooLarge()
    return there
  }
  // With a declared length the parser delivers no more than that, so the bound above holds and the fast path is safe.
  if (declared !== null) return new Uint8Array(await request.arrayBuffer().catch(bodyCutShort))
  const stream = request.body
  if (stream === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  const reader = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>
  for (;;) {
    const { done, value } = await reader.read().catch(bodyCutShort)
    if (done) return Buffer.concat(chunks)
    total += value.length
    if (total > limitBytes) {
      await reader.cancel()
      throw tooLarge()
    }
    chunks.push(value)
  }
}

/** All of a stream, each piece of which is gone with the next, up to a bound; what is larger is refused with these words. */
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

/** As they come, without a bound. */
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
    // Its sender is told by the answer; what else it sends is not worth reading.
    if (!isRead) await reader.cancel().catch(() => {})
  }
}

/**
 * All of a body that has come with its head, as most do: to listen to its pieces costs as much as everything else that is done to
 * read a small request. Undefined where it has not, or where somebody has begun to read it.
 */
export function wholeBody(incoming: IncomingMessage): Uint8Array | undefined {
  const { complete, destroyed, headers, readableDidRead, readableLength } = incoming
  if (readableDidRead || destroyed) return undefined
  // The parser tells of the end only after what waits for the last piece has gone on.
  if (!complete && readableLength !== Number(headers["content-length"])) return undefined
  // With a length it is all of them; without one, newer releases of Node give the first piece alone.
  const bytes = (readableLength === 0 ? null : (incoming.read(readableLength) as Uint8Array | null)) ?? new Uint8Array()
  // Nobody listens for the end, without which the connection would not be taken as free.
  incoming.resume()
  return bytes
}

/** The same from a socket, without the web streams around it. */
export async function* socketBody(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  // Where it is left early, the answer still needs the socket.
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array>
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch(bodyCutShort)
      if (done === true) return
      yield value
    }
  } finally {
    await pieces.return?.()
  }
}

/** Whoever sent it is gone, or was cut off at the end: nothing of ours has failed. */
function bodyCutShort(): never {
  throw badRequest("The body ended before it was complete.")
}

/** Octets that are all there already, as an answer. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

// The bytes of a request's body, up to a bound.
import type { IncomingMessage } from "node:http"
import { EngineError, badRequest } from "../../core/errors.ts"
import { releaseMemory } from "../../core/chunks.ts"
import type { HttpRequest } from "./message.ts"

/** Reads the body whole. Counts what arrives: a declared length can lie. */
export async function boundedBytes(request: HttpRequest, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new EngineError("too-large", `The body is larger than ${limitBytes} bytes.`)
  if (Number(request.headers.get("content-length")) > limitBytes) throw tooLarge()
  const arrived = request.arrived()
  if (arrived === undefined) return gathered(request.stream(), limitBytes, tooLarge)
  if (arrived.length > limitBytes) throw tooLarge()
  return arrived
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
 * Returns a body that has arrived with its head, as most do: to listen to its pieces costs as much as everything else that is done to
 * read a small request. Returns undefined if it has not, or if it was read before.
 */
export function arrivedBody(incoming: IncomingMessage): Uint8Array | undefined {
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
      releaseMemory(value)
    }
  } finally {
    await pieces.return?.()
  }
}

/** Bounds of what is read of a body after its request was answered. Fewer than these show that the client is about to read the answer. */
const discardedBytesMaximum = 64 * 1024 * 1024
const discardTimeoutMs = 500

/** Reads the rest of a body that the answer did not wait for, so that the connection can go on. Ends a connection that takes long. */
export function discardBody(incoming: IncomingMessage): void {
  if (incoming.readableEnded || incoming.destroyed) return
  if (!incoming.complete) {
    let length = 0
    const end = (): void => incoming.socket.destroySoon()
    const timer = setTimeout(end, discardTimeoutMs).unref()
    incoming.on("data", (chunk: Uint8Array) => {
      length += chunk.length
      if (length > discardedBytesMaximum) end()
    })
    incoming.once("close", () => clearTimeout(timer))
  }
  incoming.resume()
}

/** Whoever sent it is gone, or was cut off at the end: nothing of ours has failed. */
function bodyCutShort(): never {
  throw badRequest("The body ended before it was complete.")
}

/** Octets that are all there already, as an answer. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

// Sends responses with bounded memory: the socket's buffer and one chunk for each.
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { releaseMemory } from "../../core/chunks.ts"
import { type HttpResponse, isStream } from "./message.ts"

/**
 * Chunk size of long bodies. Each chunk is written after the socket accepted the one before. TLS would encrypt a whole body at once, and
 * the client's progress could not be seen.
 */
const chunkBytes = 256 * 1024

/** Sends a response. Its headers override those of `added`. A HEAD gets no body (RFC 9110, section 9.3.2). */
export async function sendResponse(
  outgoing: ServerResponse,
  { status, headers, body }: HttpResponse,
  added: Readonly<Record<string, string>>,
): Promise<void> {
  if (outgoing.destroyed) {
    if (isStream(body)) leaveStream(body[Symbol.asyncIterator]())
    return
  }
  const head = { ...added, ...headers } as Record<string, string | string[]>
  if (isStream(body)) {
    outgoing.writeHead(status, head)
    return sendStream(outgoing, body)
  }
  const isHead = outgoing.req.method === "HEAD"
  const bytes = typeof body === "string" && body.length > chunkBytes ? Buffer.from(body) : body
  if (!isHead && status !== 204 && status !== 304)
    head["content-length"] = String(typeof bytes === "string" ? Buffer.byteLength(bytes) : (bytes?.length ?? 0))
  outgoing.writeHead(status, head)
  if (isHead || bytes === null) outgoing.end()
  else if (typeof bytes === "string" || bytes.length <= chunkBytes) outgoing.end(bytes)
  else await sendStream(outgoing, chunksOf(bytes))
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

async function sendStream(outgoing: ServerResponse, body: AsyncIterable<Uint8Array>): Promise<void> {
  const chunks = body[Symbol.asyncIterator]()
  // Called immediately when the client disconnects, even while the next chunk is pending: an event stream may have none for hours.
  const leave = (): void => leaveStream(chunks)
  if (outgoing.req.method === "HEAD") {
    outgoing.end()
    return leave()
  }
  outgoing.once("close", leave)
  outgoing.flushHeaders()
  try {
    while (!outgoing.destroyed) {
      const { done, value } = await chunks.next()
      if (done === true) break
      if (!outgoing.write(value, () => releaseMemory(value))) await drained(outgoing)
    }
    outgoing.off("close", leave).end()
  } catch {
    // The head was already sent, so closing the connection is the only way to show the failure.
    outgoing.destroy()
  }
}

const leaveStream = (chunks: AsyncIterator<Uint8Array>): void => void chunks.return?.().catch(() => undefined)

/** Resolves at `drain` or `close`. */
const drained = (outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      outgoing.off("drain", settle).off("close", settle)
      resolve()
    }
    outgoing.on("drain", settle).on("close", settle)
    if (outgoing.destroyed) settle()
  })

/**
 * Returns a function that closes responses of which the client has read nothing for `timeoutMs`, as proxies do (`send_timeout`). Such a
 * client holds a connection and the rest of a body. The check runs only when called, so that other responses have no cost.
 */
export function unreadResponses(
  inFlight: ReadonlySet<ServerResponse>,
  sentOver: (socket: Socket) => number | undefined,
  timeoutMs: number,
): () => void {
  const watched = new WeakSet<ServerResponse>()
  return () => {
    for (const outgoing of inFlight) {
      const { socket } = outgoing
      if (socket === null || outgoing.writableLength === 0 || watched.has(outgoing)) continue
      let sent = sentOver(socket)
      if (sent === undefined) continue
      watched.add(outgoing)
      outgoing.setTimeout(timeoutMs, () => {
        // Nothing is unsent: the response waits for the rest of its body.
        if (outgoing.writableLength === 0) return
        // Node detects progress only on plain connections.
        const before = sent
        sent = sentOver(socket)
        if (sent === before) outgoing.destroy()
        else outgoing.setTimeout(timeoutMs)
      })
    }
  }
}

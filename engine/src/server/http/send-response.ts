// Responses on their way to the client, none of which takes more memory than the socket holds and one chunk.
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { releaseMemory } from "../../core/chunks.ts"
import { type HttpResponse, isStream } from "./message.ts"

/**
 * Of a long body: each chunk is taken by the socket before the next one is given to it. TLS would encipher all of it at once, and
 * nothing would show how much the client has read.
 */
const chunkBytes = 256 * 1024

/** Answers with the headers given, those of the response before `added`. A HEAD gets no body (RFC 9110, section 9.3.2). */
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
  // At once, even while the next chunk is being made: a stream of events may have none for hours.
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
    // The head has been sent: only the missing rest can show that the response has failed.
    outgoing.destroy()
  }
}

const leaveStream = (chunks: AsyncIterator<Uint8Array>): void => void chunks.return?.().catch(() => undefined)

/** Or closed. */
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
 * Returns a function that cuts responses of which their clients have taken nothing for `timeoutMs`, as proxies do (`send_timeout`):
 * they hold a connection and the rest of a body. It looks for them when called, so that all others cost nothing.
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
        // Without unsent bytes, the rest of the body is awaited.
        if (outgoing.writableLength === 0) return
        // Node itself sees only whether anything goes out over a plain connection.
        const before = sent
        sent = sentOver(socket)
        if (sent === before) outgoing.destroy()
        else outgoing.setTimeout(timeoutMs)
      })
    }
  }
}

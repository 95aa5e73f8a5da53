// Supports the method LIST over HTTP/1.1. Node's parser does not know it and fails at its third letter. The packet is then passed to a new
// parser, with LIST replaced by LINK, which has the same length and is known to the parser. Other requests have no cost. A LINK request
// (RFC 2068) is also read as LIST; it has no other meaning on this server.
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Server as TlsServer } from "node:tls"
import type { Socket } from "node:net"

/** Error of Node's HTTP parser. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  /** Offset in the packet at which the parser stopped. */
  readonly bytesParsed?: number
}

const list = Buffer.from("LIST ")
const link = Buffer.from("LINK ")
/** Letters common to both methods. The parser may have consumed them from an earlier packet. */
const sharedLength = 2
const restOfMethodTimeoutMs = 10_000

/** Restores the method name LIST. Must run before any other code reads the method. */
export function nameListMethod(incoming: IncomingMessage): void {
  if (incoming.method === "LINK") incoming.method = "LIST"
}

/**
 * Returns true if the error was caused by a LIST, which is then parsed again after `answering`, the earlier requests of the connection, are
 * answered. Until then, later errors of the failed parser are ignored.
 */
export function readListAnew(
  error: ParserError,
  socket: Socket,
  server: Server,
  answering: readonly ServerResponse[] = [],
): boolean {
  if (waiting.has(socket))
    return error.code?.startsWith("ERR_HTTP_") === true || error.code?.startsWith("HPE_") === true
  const packet = unparsed(error)
  if (packet === undefined || !list.subarray(0, packet.length).equals(packet.subarray(0, list.length))) return false
  if (answering.length === 0) readAnew(packet, socket, server)
  else void readAfter(answering, packet, socket, server)
  return true
}

function readAnew(packet: Buffer, socket: Socket, server: Server): void {
  detachParser(socket)
  if (packet.length < list.length) awaitRest(packet, socket, server)
  else feed(packet, socket, server)
}

/** Sockets on which a LIST waits for earlier requests to be answered. */
const waiting = new WeakSet<Socket>()
/** Bytes buffered while a LIST waits. Above this, the socket is paused. */
const maxBufferedBytes = 64 * 1024

async function readAfter(
  answering: readonly ServerResponse[],
  packet: Buffer,
  socket: Socket,
  server: Server,
): Promise<void> {
  waiting.add(socket)
  // The old parser would read later bytes as the rest of an unknown method. Another listener buffers them instead.
  removeParserListeners(socket, ["data", "end"])
  const chunks = [packet]
  let bufferedBytes = packet.length
  const buffer = (more: Buffer): void => {
    chunks.push(more)
    bufferedBytes += more.length
    if (bufferedBytes > maxBufferedBytes) socket.pause()
  }
  const leave = (): void => {
    socket.destroy()
  }
  socket.on("data", buffer).once("end", leave)
  await areOver(answering)
  waiting.delete(socket)
  socket.removeListener("data", buffer).removeListener("end", leave)
  if (socket.destroyed || socket.writableEnded) return
  readAnew(Buffer.concat(chunks), socket, server)
  socket.resume()
}

/** Resolves when all responses are sent or their connections have closed. */
export const areOver = async (answering: readonly ServerResponse[]): Promise<void> => {
  await Promise.all(
    answering.map(
      (outgoing) =>
        new Promise<void>((resolve) => {
          if (outgoing.closed) resolve()
          else outgoing.once("close", resolve)
        }),
    ),
  )
}

/** Returns the packet from the first letter of the method. */
function unparsed({ code, rawPacket, bytesParsed }: ParserError): Buffer | undefined {
  if (code !== "HPE_INVALID_METHOD" || rawPacket === undefined || bytesParsed === undefined) return undefined
  const start = bytesParsed - sharedLength
  return start >= 0 ? rawPacket.subarray(start) : Buffer.concat([list.subarray(0, -start), rawPacket])
}

// Node's listeners on the socket are run as if the connection had closed. Otherwise Node keeps the old parser, whose header timeout would
// close the connection. The keys are names of internal functions of Node; the tests of this folder fail if a release renames them.
const parserListeners: Readonly<Record<string, string>> = {
  data: "bound socketOnData",
  end: "bound socketOnEnd",
  drain: "bound socketOnDrain",
  timeout: "socketOnTimeout",
  resume: "onSocketResume",
  pause: "onSocketPause",
  close: "bound socketOnClose",
}

function detachParser(socket: Socket): void {
  for (const listener of removeParserListeners(socket, Object.keys(parserListeners)).get("close") ?? [])
    listener.call(socket)
  // Clears the keep-alive timeout, because a request has begun.
  socket.setTimeout(0)
}

function removeParserListeners(socket: Socket, events: readonly string[]): ReadonlyMap<string, Listener[]> {
  const removed = new Map<string, Listener[]>()
  for (const event of events) {
    const listeners = socket.listeners(event).filter(({ name }) => name === parserListeners[event]) as Listener[]
    for (const listener of listeners) socket.removeListener(event, listener)
    removed.set(event, listeners)
  }
  return removed
}

type Listener = (this: Socket) => void

/** Waits for the rest of a method name that was split between packets. */
function awaitRest(packet: Buffer, socket: Socket, server: Server): void {
  const give = (): void => {
    socket.destroy()
  }
  const take = (more: Buffer): void => {
    socket.setTimeout(0)
    socket.removeListener("timeout", give).removeListener("end", give)
    const both = Buffer.concat([packet, more])
    if (both.length < list.length) awaitRest(both, socket, server)
    else feed(both, socket, server)
  }
  socket.setTimeout(restOfMethodTimeoutMs).once("timeout", give).once("end", give).once("data", take)
}

/** Passes the packet to a new parser, which itself rejects anything that is not a LIST. */
function feed(packet: Buffer, socket: Socket, server: Server): void {
  const isList = packet.subarray(0, list.length).equals(list)
  server.emit(server instanceof TlsServer ? "secureConnection" : "connection", socket)
  socket.unshift(isList ? Buffer.concat([link, packet.subarray(link.length)]) : packet)
}

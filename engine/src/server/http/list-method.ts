// The method LIST over HTTP/1.1. Node's parser does not know it and gives up at its third letter; what it was given is then
// handed to a fresh parser, spelled LINK: as long, known to the parser, and used by nothing here. No other request pays for it.
// HTTP knows a LINK of its own (RFC 2068), which is read as LIST too; it means nothing else on this server.
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Server as TlsServer } from "node:tls"
import type { Socket } from "node:net"

/** What the parser says where it gives up. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  /** Where in the packet the parser stopped. */
  readonly bytesParsed?: number
}

const list = Buffer.from("LIST ")
const link = Buffer.from("LINK ")
/** The letters that both have, which the parser may have taken from an earlier packet. */
const sharedLength = 2
const restOfMethodTimeoutMs = 10_000

/** Before anything else looks at a request. */
export function nameListMethod(incoming: IncomingMessage): void {
  if (incoming.method === "LINK") incoming.method = "LIST"
}

/**
 * Returns true if the error was a LIST, which is then read anew: once the requests before it on the same connection, to which
 * `answering` belong, are answered. Until then the parser that gave up reports errors of its own, which mean nothing.
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

/** With a LIST behind a request that is not answered yet. */
const waiting = new WeakSet<Socket>()
/** Of what follows the LIST, before no more is read. */
const heldBytesMaximum = 64 * 1024

async function readAfter(
  answering: readonly ServerResponse[],
  packet: Buffer,
  socket: Socket,
  server: Server,
): Promise<void> {
  waiting.add(socket)
  // It would read what follows as the rest of a method that it does not know. Another listener takes the bytes from it.
  removeParserListeners(socket, ["data", "end"])
  const held = [packet]
  let heldBytes = packet.length
  const hold = (more: Buffer): void => {
    held.push(more)
    heldBytes += more.length
    if (heldBytes > heldBytesMaximum) socket.pause()
  }
  const leave = (): void => {
    socket.destroy()
  }
  socket.on("data", hold).once("end", leave)
  await areOver(answering)
  waiting.delete(socket)
  socket.removeListener("data", hold).removeListener("end", leave)
  if (socket.destroyed || socket.writableEnded) return
  readAnew(Buffer.concat(held), socket, server)
  socket.resume()
}

/** Resolves when the last of them is with its client, or its connection has ended. */
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

/** From the first letter of the method on. */
function unparsed({ code, rawPacket, bytesParsed }: ParserError): Buffer | undefined {
  if (code !== "HPE_INVALID_METHOD" || rawPacket === undefined || bytesParsed === undefined) return undefined
  const start = bytesParsed - sharedLength
  return start >= 0 ? rawPacket.subarray(start) : Buffer.concat([list.subarray(0, -start), rawPacket])
}

// Whatever Node has attached to the socket ends as if the connection had; only so does it forget the old parser, which would
// otherwise run into the time limit for headers, and the connection with it. The names are those of Node's own functions; a
// release that renames them fails the tests beside this file.
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
  // The time limit between two requests is over: this is one.
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

/** For the method cut in two by the network. */
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

/** What turns out to be something else is refused by the parser itself. */
function feed(packet: Buffer, socket: Socket, server: Server): void {
  const isList = packet.subarray(0, list.length).equals(list)
  server.emit(server instanceof TlsServer ? "secureConnection" : "connection", socket)
  socket.unshift(isList ? Buffer.concat([link, packet.subarray(link.length)]) : packet)
}

// The method LIST over HTTP/1.1. Node's parser does not know it and gives up at its third letter; what it was given is then
// handed to a fresh parser, spelled LINK: as long, known to the parser, and used by nothing here. No other request pays for it.
// HTTP knows a LINK of its own (RFC 2068), which is read as LIST too; it means nothing else on this server.
import type { IncomingMessage, Server } from "node:http"
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
 * True when the error was a LIST that is now being read anew. No request may be under way on the socket: what follows one
 * before it is answered is refused, as any other error is.
 */
export function readListAnew(error: ParserError, socket: Socket, server: Server): boolean {
  const packet = unparsed(error)
  if (packet === undefined || !list.subarray(0, packet.length).equals(packet.subarray(0, list.length))) return false
  detachParser(socket)
  if (packet.length < list.length) awaitRest(packet, socket, server)
  else feed(packet, socket, server)
  return true
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
  for (const [event, name] of Object.entries(parserListeners)) {
    for (const listener of socket.listeners(event)) {
      if (listener.name !== name) continue
      socket.removeListener(event, listener as () => void)
      if (event === "close") listener.call(socket)
    }
  }
  // The time limit between two requests is over: this is one.
  socket.setTimeout(0)
}

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

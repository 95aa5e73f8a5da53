// Serves a handler on a socket, with TLS, limits and timeouts against slow or hostile peers, and a graceful shutdown.
import { statSync, unlinkSync } from "node:fs"
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http"
import { createServer as createHttpsServer } from "node:https"
import { connect, createServer, type Server as NetServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { nextTurn, sharedTurn } from "../../core/timers.ts"
import { discardBody } from "./body.ts"
import { type ConnectionShareOptions, shareConnections } from "./connection-share.ts"
import type { Serve } from "./exchange.ts"
import { areOver, nameListMethod, type ParserError, readListAnew } from "./list-method.ts"
import type { ListenAddress } from "./listen-address.ts"
import { respond } from "./message.ts"
import { NodeRequest, requestUrl } from "./node-request.ts"
import { errorDocument } from "./responses.ts"
import { deviceContextOptions, type SecureContextSource, secureContextOptions } from "./secure-context.ts"
import { sendResponse, unreadResponses } from "./send-response.ts"

export interface NodeServerOptions {
  /** Serves HTTPS. Each handshake uses the current identity of the source. */
  readonly tls?: SecureContextSource
  /** Requests a certificate from each client, of any issuer, and marks requests as those of devices. Needs `tls`. */
  readonly isDevice?: boolean
  /** Command-line option that a `ListenError` names as the remedy. Default: `--listen`. */
  readonly listenFlag?: string
  /** A longer declared body is rejected without `100 Continue`, so that the client does not send it. */
  readonly bodyLimitBytes?: number
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  /** Separate bounds for uploads, which may be much longer than other bodies. */
  readonly uploads?: {
    readonly matches: (path: string) => boolean
    readonly bodyLimitBytes: number
    readonly requestTimeoutMs: number
  }
  /** Interval at which the header and request timeouts are checked. */
  readonly timeoutCheckMs?: number
  /** Longer than the idle timeout of common proxies (60 s), so that the proxy closes idle connections first. */
  readonly keepAliveTimeoutMs?: number
  /** Time in which a client must read some part of a pending response. */
  readonly unreadTimeoutMs?: number
  readonly maximumHeaderBytes?: number
  readonly maximumConnections?: number
  /** Limit per client address, with an IPv6 /64 counted as one address. Unix sockets are not counted. */
  readonly connectionShare?: ConnectionShareOptions
  /** Headers added to every response, in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface NodeServer {
  /** Starts listening. Port 0 selects a free port; the returned address contains it. Rejects with `ListenError`. */
  listen(address: ListenAddress): Promise<ListenAddress>
  /**
   * Keeps accepting and answering, but closes each connection with its next response. Clients then reconnect, and a load balancer can route
   * them to another server. Closing an idle connection instead could lose a request that is already on its way.
   */
  sendAway(): void
  /**
   * Reads the requests that have arrived, stops accepting, closes idle connections and finishes the requests in flight. Each connection is
   * closed with its response. Requests that remain after `graceMs` are cut; `cut` is their number.
   */
  close(graceMs: number): Promise<{ readonly cut: number }>
}

/** The server cannot listen on the address. Its message is a sentence for the operator. */
export class ListenError extends Error {
  readonly code: string | undefined
  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message, { cause })
    this.name = "ListenError"
    this.code = cause.code
  }
}

export function createNodeServer(serve: Serve, options: NodeServerOptions = {}): NodeServer {
  const { bodyLimitBytes = Number.POSITIVE_INFINITY, requestTimeoutMs = 120_000, uploads } = options
  const isUpload = ({ url = "" }: IncomingMessage) => uploads?.matches(url) === true
  const settings = {
    headersTimeout: Math.min(options.headersTimeoutMs ?? 20_000, requestTimeoutMs),
    // Node has one timeout for all requests. Requests with a shorter one have their own timers.
    requestTimeout: Math.max(requestTimeoutMs, uploads?.requestTimeoutMs ?? 0),
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    connectionsCheckingInterval: options.timeoutCheckMs ?? 5_000,
    maxHeaderSize: options.maximumHeaderBytes ?? 16 * 1024,
    // Repeated headers are joined, as other servers do. By default, Node drops the second value of some headers.
    joinDuplicateHeaders: true,
  }
  const secure = options.tls === undefined ? undefined : createSecureServer(settings, options.tls, options.isDevice)
  const server: Server = secure?.server ?? createHttpServer(settings)
  server.maxConnections = options.maximumConnections ?? 10_000
  if (options.connectionShare !== undefined) shareConnections(server, options.connectionShare)
  const headers = { "x-content-type-options": "nosniff", ...options.headers }

  const inFlight = new Set<ServerResponse>()
  const sentOver = secure?.sentOver ?? ((socket: Socket) => socket.bytesWritten)
  const endUnread = unreadResponses(inFlight, sentOver, options.unreadTimeoutMs ?? 60_000)
  const watch = setInterval(endUnread, settings.connectionsCheckingInterval).unref()
  // Node considers a connection idle once the response is buffered, although much of it may be unsent. Idle connections are therefore
  // closed only when no buffered response is unsent. `close` of each response calls this again.
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    if (![...inFlight].some((outgoing) => outgoing.writableEnded)) closeIdleConnections()
  }
  const writingTurn = sharedTurn()
  let isSendingAway = false
  let closing: Promise<{ cut: number }> | undefined

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse, url: string): Promise<void> => {
    try {
      const response = await serve(new NodeRequest(incoming, url, options.isDevice))
      // Responses of one turn are written together: each write to a client that sleeps wakes it, which costs 15 to 20 us of the 70 us of an
      // empty response (`npm run bench -- show`).
      await writingTurn()
      await sendResponse(outgoing, response, headers)
    } catch {
      // `serve` handles and logs its own errors. Errors that remain here are headers that Node rejects.
      if (outgoing.headersSent) outgoing.destroy()
      else await sendResponse(outgoing, respond(null, { status: 500 }), headers)
    }
  }

  /** Connections that close after the last response, because a later request on them cannot be parsed. */
  const unreadable = new WeakSet<Socket>()

  const endLate = (incoming: IncomingMessage): void => {
    const late = Object.assign(new Error("the request is late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" })
    const timer = setTimeout(() => {
      if (!incoming.complete) server.emit("clientError", late, incoming.socket)
    }, requestTimeoutMs).unref()
    incoming.once("close", () => clearTimeout(timer))
  }

  /** Requests whose body was incomplete at the head. Most bodies are complete by the end of this turn and need no timer. */
  const arriving: IncomingMessage[] = []
  const endUnlessWhole = (incoming: IncomingMessage): void => {
    if (arriving.push(incoming) > 1) return
    setImmediate(() => {
      for (const one of arriving.splice(0)) if (!one.complete && !one.destroyed) endLate(one)
    })
  }

  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    inFlight.add(outgoing)
    outgoing.on("close", () => {
      inFlight.delete(outgoing)
      // A response that began before the shutdown did not announce `Connection: close`, so its connection is closed here.
      if (closing !== undefined) setImmediate(() => server.closeIdleConnections())
      discardBody(incoming)
    })
    const url = isMisread(incoming) ? undefined : requestUrl(incoming)
    if (url === undefined) {
      outgoing.shouldKeepAlive = false
      void sendResponse(outgoing, misread, headers)
      return
    }
    nameListMethod(incoming)
    if (uploads !== undefined && hasBody(incoming) && !isUpload(incoming)) endUnlessWhole(incoming)
    if (isSendingAway) outgoing.shouldKeepAlive = false
    void answer(incoming, outgoing, url)
  }
  server.on("request", handle)
  server.on("checkContinue", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const limitBytes = isUpload(incoming) ? uploads?.bodyLimitBytes : bodyLimitBytes
    if (!(Number(incoming.headers["content-length"]) > (limitBytes ?? bodyLimitBytes))) outgoing.writeContinue()
    handle(incoming, outgoing)
  })
  server.on("clientError", (error: ParserError, socket: Socket) => {
    const answerUnreadableAfter = async (others: readonly ServerResponse[]): Promise<void> => {
      await areOver(others)
      answerUnreadable(error, socket, headers)
    }
    // Responses queued behind others on the connection have no socket yet; their requests do.
    const answering = [...inFlight].filter((outgoing) => outgoing.req.socket === socket)
    if (readListAnew(error, socket, server, answering)) return
    // The unparsable data follows requests that are valid. Those are answered first.
    if (isOfHttp(error) && answering.length > 0 && answering.every(({ req }) => req.complete)) {
      if (unreadable.has(socket)) return
      unreadable.add(socket)
      void answerUnreadableAfter(answering)
      return
    }
    if (answering.some((outgoing) => outgoing.headersSent)) socket.destroy()
    else answerUnreadable(error, socket, headers)
  })

  function sendAway(): void {
    isSendingAway = true
    for (const outgoing of inFlight) outgoing.shouldKeepAlive = false
  }

  async function drain(graceMs: number): Promise<{ cut: number }> {
    sendAway()
    // In these two turns, pending connections are accepted and the requests that arrived on them are read.
    await nextTurn()
    await nextTurn()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    void closed.then(() => clearInterval(watch))
    server.closeIdleConnections()
    secure?.close()
    const timer = new AbortController()
    const late = sleep(graceMs, "late" as const, { signal: timer.signal }).catch(() => undefined)
    const outcome = await Promise.race([closed, late])
    timer.abort()
    const cut = outcome === "late" ? inFlight.size : 0
    server.closeAllConnections()
    await closed
    return { cut }
  }

  return {
    listen: (address) => bind(server, address, options.listenFlag),
    sendAway,
    close: (graceMs) => (closing ??= drain(graceMs)),
  }
}

/**
 * Checks that the address is free. A client that connects during the check gets no response. Throws `ListenError`, whose message names
 * `listenFlag` as the remedy.
 */
export async function assertListenable(address: ListenAddress, listenFlag?: string): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  await bind(server, address, listenFlag)
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

async function bind(
  server: Pick<NetServer, "address" | "listen" | "once" | "removeAllListeners">,
  address: ListenAddress,
  listenFlag = "--listen",
): Promise<ListenAddress> {
  if ("path" in address) await removeAbandoned(address.path)
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenError(address, error, listenFlag)))
    server.listen(address, () => {
      server.removeAllListeners("error")
      const bound = server.address()
      resolve(bound === null || typeof bound === "string" ? address : { host: bound.address, port: bound.port })
    })
  })
}

interface SecureServer {
  readonly server: Server
  /** Returns the encrypted bytes written, or undefined if the underlying socket is unknown. */
  readonly sentOver: (socket: Socket) => number | undefined
  /** Ends pending handshakes, which Node's `closeIdleConnections` does not include. */
  close(): void
}

function createSecureServer(settings: ServerOptions, source: SecureContextSource, isDevice = false): SecureServer {
  const contextOptions = isDevice ? deviceContextOptions : secureContextOptions
  const server = createHttpsServer({
    ...settings,
    ...contextOptions(source.current()),
    // The endpoints decide which certificates they accept. A handshake that fails tells the client no reason.
    ...(isDevice && { requestCert: true, rejectUnauthorized: false }),
    ...(settings.headersTimeout === undefined ? {} : { handshakeTimeout: settings.headersTimeout }),
  })
  const stopFollowing = source.onChange((identity) => server.setSecureContext(contextOptions(identity)))
  // Only the peer's address connects a TLS socket with its plain socket. Peers of unix sockets have no address.
  const handshakes = new Map<string, Socket>()
  server.on("connection", (socket: Socket) => {
    if (socket.remotePort === undefined) return
    const peer = peerOf(socket)
    handshakes.set(peer, socket)
    socket.once("close", () => {
      if (handshakes.get(peer) === socket) handshakes.delete(peer)
    })
  })
  const carriers = new WeakMap<Socket, Socket>()
  server.on("secureConnection", (socket: Socket) => {
    const peer = peerOf(socket)
    const carrier = handshakes.get(peer)
    if (carrier !== undefined) carriers.set(socket, carrier)
    handshakes.delete(peer)
  })
  return {
    server,
    sentOver: (socket) => carriers.get(socket)?.bytesWritten,
    close() {
      stopFollowing()
      for (const socket of handshakes.values()) socket.destroy()
    },
  }
}

/**
 * Returns true for requests that a proxy in front may have read differently: two `Host` lines (RFC 9112, section 3.2), or a version other
 * than HTTP/1.0 and 1.1. The parser accepts any version of two digits, such as HTTP/2.0.
 */
function isMisread({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) return true
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1
  }
  return hosts > 1
}

const misread = respond(errorDocument(400, "bad request", "The request line or the Host header cannot be read."), {
  status: 400,
  headers: { "content-type": "application/vnd.api+json", connection: "close" },
})

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Removes the socket file of a server that was killed. A refused connection shows that no server listens on it. */
async function removeAbandoned(path: string): Promise<void> {
  const abandoned = await new Promise<boolean>((resolve) => {
    const socket = connect(path)
    socket.once("connect", () => {
      socket.destroy()
      resolve(false)
    })
    // Connecting to a plain file also fails with ECONNREFUSED; it must not be removed.
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED" && isSocket(path)))
  })
  if (abandoned) unlinkSync(path)
}

const isSocket = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isSocket() === true

const unreadable: Readonly<Record<string, readonly [status: number, title: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "request header fields too large", "The request headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request timeout", "The request did not arrive in time."],
}

/**
 * Returns true for errors of the HTTP parser. Errors below HTTP get no response: in an unfinished TLS handshake it would never be sent, and
 * the connection would stay open.
 */
const isOfHttp = ({ code = "" }: NodeJS.ErrnoException): boolean => /^(?:HPE|ERR_HTTP)_/.test(code)

function answerUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (!isOfHttp(error) || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, title, detail] = unreadable[error.code ?? ""] ?? [400, "bad request", "The request is not valid HTTP."]
  const body = errorDocument(status, title, detail)
  const added = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\n${added.join("")}Content-Type: application/vnd.api+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

function listenError(address: ListenAddress, error: NodeJS.ErrnoException, flag: string): ListenError {
  const where = "path" in address ? address.path : `${address.host}:${address.port}`
  switch (error.code) {
    case "EADDRINUSE":
      return new ListenError(
        `${where} is already in use; stop the process that listens there, or set another address with ${flag}.`,
        error,
      )
    case "EACCES":
      return new ListenError(`Listening on ${where} is not permitted; choose a port above 1023 with ${flag}.`, error)
    default:
      return new ListenError(`Cannot listen on ${where}: ${error.message}; set another address with ${flag}.`, error)
  }
}

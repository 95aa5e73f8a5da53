// Proxies that inject faults between the operator and its servers: closed connections, and late or missing answers.
import { createServer as createHttpServer, request } from "node:http"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { once } from "node:events"

export interface CuttableProxy extends AsyncDisposable {
  readonly port: number
  /** Closes every connection immediately, even in the middle of a message. */
  cut(): void
}

/** Forwards bytes to a port on this machine. */
export async function startCuttableProxy(port: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    socket
      .on("error", () => {})
      .on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
  }
  const server = createServer((near) => {
    const far = connect({ port, host: "127.0.0.1" })
    keep(near, far)
    keep(far, near)
    near.pipe(far).pipe(near)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close")
      server.close()
      cut()
      await closed
    },
  }
}

export interface FaultyEngine extends AsyncDisposable {
  readonly url: string
  /** Number of requests that were refused, delayed, or executed but not answered, by kind. */
  readonly faults: Readonly<Record<Fault, number>>
  /** Stops injecting faults. */
  recover(): void
}

type Fault = "429" | "503" | "late" | "lost"

const lateMs = 2_000

const faultKinds: readonly Fault[] = ["429", "503", "late", "lost"]

/**
 * Starts an engine behind a proxy that refuses requests, delays them, or executes them without answering. At first it fails every second
 * request, until each kind of fault occurred once. Then it fails `percent` of the requests at random, with any kind of fault.
 */
export async function startFaultyEngine(target: string, random: () => number, percent = 5): Promise<FaultyEngine> {
  const faults: Record<Fault, number> = { "429": 0, "503": 0, late: 0, lost: 0 }
  let failing = true
  let requestCount = 0
  const nextFault = (): Fault | undefined => {
    requestCount += 1
    if (!failing) return undefined
    if (requestCount <= 2 * faultKinds.length)
      return requestCount % 2 === 0 ? faultKinds[requestCount / 2 - 1] : undefined
    return faultKinds[Math.floor((random() * 100) / percent)]
  }
  const { hostname, port } = new URL(target)
  const server = createHttpServer((incoming, outgoing) => {
    const fault = nextFault()
    if (fault !== undefined) faults[fault] += 1
    if (fault === "429" || fault === "503") {
      incoming.resume()
      outgoing.writeHead(Number(fault), { "retry-after": "1", "content-type": "application/json" }).end('{"errors":[]}')
      return
    }
    const pass = () => {
      const { method, url, headers } = incoming
      const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
        if (fault === "lost") {
          answer.resume().on("end", () => outgoing.destroy())
          return
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      onward.on("error", () => outgoing.destroy())
      outgoing.on("error", () => onward.destroy())
      incoming.pipe(onward)
    }
    if (fault === "late") setTimeout(pass, lateMs)
    else pass()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    recover: () => void (failing = false),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export interface HoldingEngine extends AsyncDisposable {
  readonly url: string
  /** Resolves when the first message is held. */
  readonly held: Promise<void>
  /** Resolves when the client of the first held message has closed its connection. */
  readonly clientGone: Promise<void>
  /** Passes held messages on, and all later ones at once. */
  release(): void
}

/**
 * Starts an engine behind a proxy that holds messages of matching paths: requests, which the engine has not seen then, or answers, which the
 * client has not seen. Messages whose client is gone are dropped.
 */
export async function startHoldingEngine(
  target: string,
  path: RegExp,
  message: "request" | "answer",
): Promise<HoldingEngine> {
  const held = Promise.withResolvers<void>()
  const clientGone = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const { hostname, port } = new URL(target)
  const server = createHttpServer((incoming, outgoing) => {
    const { method, url = "", headers } = incoming
    const whenFree = (kind: typeof message, pass: () => void) => {
      if (kind !== message || !path.test(url)) return pass()
      held.resolve()
      outgoing.on("close", clientGone.resolve)
      void released.promise.then(() => (outgoing.destroyed ? undefined : pass()))
    }
    whenFree("request", () => {
      const onward = request({ hostname, port, method, path: url, headers }, (answer) =>
        whenFree("answer", () => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing)
        }),
      )
      onward.on("error", () => outgoing.destroy())
      outgoing.on("error", () => onward.destroy())
      incoming.pipe(onward)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: held.promise,
    clientGone: clientGone.promise,
    release: released.resolve,
    async [Symbol.asyncDispose]() {
      released.resolve()
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

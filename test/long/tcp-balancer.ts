// A plain TCP balancer: each connection goes to the next target that accepts it, and stays there. It does not parse HTTP and makes no
// health checks; a target that accepts connections without answering keeps them.
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export class TcpBalancer implements AsyncDisposable {
  /** Ports on this machine; a change applies to later connections. */
  targets: readonly number[]
  readonly #open = new Set<Socket>()
  readonly #server = createServer({ noDelay: true }, (client) => void this.#accept(client))
  #turn = 0

  constructor(targets: readonly number[] = []) {
    this.targets = targets
  }

  /** Starts listening and returns the port. */
  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1")
    await once(this.#server, "listening")
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#open) socket.destroy()
    await closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #accept(client: Socket): Promise<void> {
    this.#track(client)
    const target = await this.#connected()
    if (target === undefined || client.destroyed) {
      target?.destroy()
      client.destroy()
      return
    }
    join(client, target)
    join(target, client)
  }

  /** Tries each target once; returns undefined if none accepts. */
  async #connected(): Promise<Socket | undefined> {
    const targets = this.targets
    const first = this.#turn
    this.#turn += 1
    for (let tried = 0; tried < targets.length; tried += 1) {
      const port = targets[(first + tried) % targets.length]
      const socket = connect({ host: "127.0.0.1", port: port ?? 0, noDelay: true })
      this.#track(socket)
      const isConnected = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true))
        socket.once("close", () => resolve(false))
      })
      if (isConnected) return socket
    }
    return undefined
  }

  #track(socket: Socket): void {
    this.#open.add(socket)
    // A close event follows every error.
    socket.on("error", () => {})
    socket.once("close", () => this.#open.delete(socket))
  }
}

/** Forwards data and its end in order. If one side breaks off, so does the other. */
function join(from: Socket, to: Socket): void {
  from.once("close", () => {
    if (!from.readableEnded) to.destroy()
  })
  from.pipe(to)
}

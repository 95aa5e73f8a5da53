// A plain TCP balancer: each connection goes to the next target that accepts it, and stays there. It knows nothing of HTTP and asks
// nobody's health; a target that is there and silent keeps the connections that it is given.
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export class TcpBalancer implements AsyncDisposable {
  /** Ports on this machine; a change holds for connections that come after it. */
  targets: readonly number[]
  readonly #open = new Set<Socket>()
  readonly #server = createServer({ noDelay: true }, (client) => void this.#accept(client))
  #turn = 0

  constructor(targets: readonly number[] = []) {
    this.targets = targets
  }

  /** The port that it listens at. */
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

  /** Each target is tried once; undefined where none accepts. */
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
    // What an error ends, a close tells.
    socket.on("error", () => {})
    socket.once("close", () => this.#open.delete(socket))
  }
}

/** An end is passed on behind what was said before it; who breaks off breaks the other off. */
function join(from: Socket, to: Socket): void {
  from.once("close", () => {
    if (!from.readableEnded) to.destroy()
  })
  from.pipe(to)
}

// A proxy to a server on a socket that can drop all data, as a network does when a host dies: connections remain open, new ones are
// accepted, and nothing arrives.
import { createServer, type Socket, connect } from "node:net"
import type { AddressInfo } from "node:net"

export interface LossyProxy extends AsyncDisposable {
  readonly port: number
  /** Starts or stops dropping data; dropped data is never sent. */
  lose(isLost: boolean): void
}

export async function openLossyProxy(socketPath: string): Promise<LossyProxy> {
  let isLost = false
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(socketPath)
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on("error", () => socket.destroy())
      socket.on("close", () => open.delete(socket))
    }
    join(near, far)
    join(far, near)
  })
  const join = (from: Socket, to: Socket): void => {
    from.on("data", (bytes) => void (isLost || to.write(bytes)))
    from.on("end", () => void (isLost || to.end()))
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    lose: (lost) => void (isLost = lost),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

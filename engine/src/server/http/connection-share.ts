// Limits the connections of each client address, so that one client cannot use up all connections of the server.
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { parseIpAddress } from "../../pki/names/ip-address.ts"

export interface ConnectionShareOptions {
  readonly maxConnections: number
  /** Returns true for proxies, which forward connections of many clients. */
  readonly isExempt: (address: string) => boolean
  /** Called at the first refused connection of an address. Called again only after the address was below its limit. */
  readonly onExceeded?: (address: string) => void
}

export function shareConnections(server: Server, options: ConnectionShareOptions): void {
  const { maxConnections, isExempt, onExceeded } = options
  const shares = new Map<string, { count: number; isReported: boolean }>()
  const counted = new WeakSet<Socket>()
  const isAdmitted = (socket: Socket): boolean => {
    const { remoteAddress } = socket
    // A socket that another parser reads again (see `list-method.ts`) is announced twice. A unix socket has no address.
    if (remoteAddress === undefined || counted.has(socket) || isExempt(remoteAddress)) return true
    counted.add(socket)
    const holder = holderOf(remoteAddress)
    const share = shares.get(holder) ?? { count: 0, isReported: false }
    if (share.count >= maxConnections) {
      if (!share.isReported) onExceeded?.(remoteAddress)
      share.isReported = true
      return false
    }
    shares.set(holder, share)
    share.count += 1
    socket.once("close", () => {
      share.count -= 1
      share.isReported = false
      if (share.count === 0) shares.delete(holder)
    })
    return true
  }
  // Node's own listeners expect an open socket.
  const listeners = server.listeners("connection")
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    if (!isAdmitted(socket)) socket.destroy()
    else for (const listener of listeners) listener.call(server, socket)
  })
}

/** Returns the key that a connection counts under: an IPv4 address, or the /64 network that one IPv6 client typically has. */
export function holderOf(address: string): string {
  const octets = parseIpAddress(address)
  if (octets === undefined) return address
  return octets.length === 4 ? octets.join(".") : Buffer.from(octets.subarray(0, 8)).toString("hex")
}

// No client alone may hold all of the connections that a server takes: each address has a share of them.
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { parseIpAddress } from "../../pki/names/ip-address.ts"

export interface ConnectionShareOptions {
  readonly maxConnections: number
  /** True for proxies, whose connections are those of many clients. */
  readonly isExempt: (address: string) => boolean
  /** Called with the first connection of an address that is refused, and again once the address had fewer than its share. */
  readonly onExceeded?: (address: string) => void
}

export function shareConnections(server: Server, options: ConnectionShareOptions): void {
  const { maxConnections, isExempt, onExceeded } = options
  const held = new Map<string, { count: number; isReported: boolean }>()
  const counted = new WeakSet<Socket>()
  const isAdmitted = (socket: Socket): boolean => {
    const { remoteAddress } = socket
    // A socket that is read anew by another parser comes here twice. A local socket has no address.
    if (remoteAddress === undefined || counted.has(socket) || isExempt(remoteAddress)) return true
    counted.add(socket)
    const holder = holderOf(remoteAddress)
    const share = held.get(holder) ?? { count: 0, isReported: false }
    if (share.count >= maxConnections) {
      if (!share.isReported) onExceeded?.(remoteAddress)
      share.isReported = true
      return false
    }
    held.set(holder, share)
    share.count += 1
    socket.once("close", () => {
      share.count -= 1
      share.isReported = false
      if (share.count === 0) held.delete(holder)
    })
    return true
  }
  // Node's own listeners expect a socket that is open.
  const listeners = server.listeners("connection")
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    if (!isAdmitted(socket)) socket.destroy()
    else for (const listener of listeners) listener.call(server, socket)
  })
}

/** Whose share a connection counts for: an IPv4 address, or the network of 64 bits that one IPv6 client has to itself. */
export function holderOf(address: string): string {
  const octets = parseIpAddress(address)
  if (octets === undefined) return address
  return octets.length === 4 ? octets.join(".") : Buffer.from(octets.subarray(0, 8)).toString("hex")
}

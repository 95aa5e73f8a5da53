// Ports for servers that need a fixed one. The kernel assigns ports from 32768 up (49152 except on Linux) to sockets without one, so such a
// port could be taken before the server listens. These are lower, and concurrent processes search in different ranges.
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

const lowest = 15_000
const slices = 64
const portsPerSlice = 265

const sliceStart = lowest + (process.pid % slices) * portsPerSlice
let next = randomInt(portsPerSlice)

/** Returns a port that is free on every address. Other calls in this process do not return it for a long time. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < portsPerSlice; attempt += 1) {
    const port = sliceStart + (next++ % portsPerSlice)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${sliceStart} to ${sliceStart + portsPerSlice - 1} is free`)
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  try {
    await once(probe.listen(port, "0.0.0.0"), "listening")
  } catch {
    return false
  }
  await new Promise((resolve) => probe.close(resolve))
  return true
}

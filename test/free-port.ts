// Ports for servers that are told theirs. The kernel hands out ports from 32768 on (49152 elsewhere than on Linux) to whoever
// connects or listens without saying where, so that one of those may be gone before the server listens. These lie below, and
// processes that look at the same time look in different places.
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"

const lowest = 15_000
const slices = 64
const portsPerSlice = 265

const sliceStart = lowest + (process.pid % slices) * portsPerSlice
let next = randomInt(portsPerSlice)

/** Nobody listens there on any address, and nobody else in this process is told of it for a long time. */
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

// Only this file uses the clock and the random source of the process. All other code receives them as arguments.
import { hash } from "node:crypto"
import type { RandomSource } from "./random.ts"
import type { Clock } from "./time.ts"
import type { Tracer } from "./tracing.ts"

export interface Log {
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void
  info(event: string, fields?: Readonly<Record<string, unknown>>): void
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void
  error(event: string, fields?: Readonly<Record<string, unknown>>): void
}

export interface Runtime {
  readonly clock: Clock
  readonly random: RandomSource
  readonly log: Log
  /** Returns the SHA-256 of a text in lower-case hex. */
  readonly digest: (text: string) => string
  /** Absent if traces are not collected. */
  readonly tracer?: Tracer | undefined
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

export const systemRuntime = (log: Log = silentLog): Runtime => ({
  clock: { now: () => Date.now() },
  random: { bytes: pooledRandom() },
  log,
  digest: (text) => hash("sha256", text, "hex"),
})

const poolBytes = 4096

/** Draws small amounts from a pool, because every request needs an id and a call into the kernel costs more. No byte is returned twice. */
function pooledRandom(): (count: number) => Uint8Array {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  return (count) => {
    if (count > poolBytes / 4) return globalThis.crypto.getRandomValues(new Uint8Array(count))
    if (used + count > poolBytes) {
      globalThis.crypto.getRandomValues(pool)
      used = 0
    }
    const drawn = pool.slice(used, used + count)
    pool.fill(0, used, used + count)
    used += count
    return drawn
  }
}

// The only place that touches the clock and the random source of the process; everything else takes them as arguments.
import { hash } from "node:crypto"
import type { RandomSource } from "./random.ts"
import type { Clock } from "./time.ts"

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
  /** SHA-256, lower-case hex. */
  readonly digest: (text: string) => string
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

export const systemRuntime = (log: Log = silentLog): Runtime => ({
  clock: { now: () => Date.now() },
  random: { bytes: (count) => globalThis.crypto.getRandomValues(new Uint8Array(count)) },
  log,
  digest: (text) => hash("sha256", text, "hex"),
})

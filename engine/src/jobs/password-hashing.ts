// Passwords are hashed on separate threads: each takes a large part of a second, in which the main thread would answer no request.
import { extname } from "node:path"
import type { Meter } from "@opentelemetry/api"
import { busy, unavailable } from "../core/errors.ts"
import { noopMeter } from "../core/metrics.ts"
import type { Timers } from "../core/timers.ts"
import type { PasswordHasher } from "../access/userpass/password-hasher.ts"
import { WorkerThreads } from "./worker-threads.ts"

export type PasswordWork =
  | { readonly kind: "hash"; readonly password: string; readonly salt: Uint8Array }
  | { readonly kind: "verify"; readonly password: string; readonly hash: string }

export interface PasswordHashingOptions {
  readonly timers: Timers
  /** Number of passwords that are hashed at once. */
  readonly threadCount: number
  /** Number of passwords that may wait. Further ones are rejected, so that guesses cannot occupy the server. */
  readonly maxWaiting: number
  readonly meter?: Meter
}

export type PasswordHashing = PasswordHasher & Disposable

/** Opens a hasher whose threads start on demand. */
export function openPasswordHashing({
  timers,
  threadCount,
  maxWaiting,
  meter = noopMeter,
}: PasswordHashingOptions): PasswordHashing {
  const threads = new WorkerThreads<PasswordWork, string | boolean>({
    timers,
    module: new URL(`./password-thread${extname(import.meta.url)}`, import.meta.url),
  })
  const waiting: PromiseWithResolvers<void>[] = []
  const waitingCount = meter.createUpDownCounter("chancery_passwords_waiting", {
    description: "Passwords that wait to be hashed or verified on this server.",
  })
  waitingCount.add(0)
  let runningCount = 0
  let closed = false

  async function run(work: PasswordWork): Promise<string | boolean> {
    if (closed) throw closing()
    if (runningCount < threadCount) runningCount += 1
    else {
      if (waiting.length >= maxWaiting) throw busy("too many passwords are being verified; retry later")
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      // The one that ends gives its place to the one that waits.
      waitingCount.add(1)
      try {
        await turn.promise
      } finally {
        waitingCount.add(-1)
      }
    }
    try {
      if (closed) throw closing()
      return await threads.run(work)
    } catch (error) {
      // Threads that end with the engine report their work as unfinished, which is no fault.
      throw closed ? closing() : error
    } finally {
      const next = waiting.shift()
      if (next === undefined) runningCount -= 1
      else next.resolve()
    }
  }

  return {
    hash: async (password, salt) => String(await run({ kind: "hash", password, salt })),
    verify: async (password, hash) => (await run({ kind: "verify", password, hash })) === true,
    [Symbol.dispose]() {
      closed = true
      for (const turn of waiting.splice(0)) turn.reject(closing())
      threads.close()
    },
  }
}

const closing = () => unavailable("The engine is closing.")

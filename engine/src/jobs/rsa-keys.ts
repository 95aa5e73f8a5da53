// RSA keys are made by threads of our own. libuv's pool has four threads, however many cores there are, and signatures,
// files and name look-ups wait for the same four; threads of our own also yield to every other request.
import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import { secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import type { RsaKeyOctets, RsaKeySource } from "../x509/key-generation.ts"
import { KeyPool } from "./key-pool.ts"

export interface RsaKeysOptions {
  /** Keys made at the same time: the number of cores, and at least two so that one that takes minutes holds up nobody. */
  readonly threadCount: number
  readonly timers: Timers
  /** How many keys of which size to hold ready, in memory only. */
  readonly stock?: ReadonlyMap<number, number>
}

export interface RsaKeys extends RsaKeySource, Disposable {
  /** How many keys of this size could be handed out at once. */
  readyCount(bits: number): number
}

/** Threads start when they are needed. */
export function openRsaKeys({ threadCount, timers, stock }: RsaKeysOptions): RsaKeys {
  const threads = new Threads(timers)
  const pool = new KeyPool({
    make: (bits) => threads.make(bits),
    slotCount: threadCount,
    ...(stock === undefined ? {} : { stock }),
  })
  return {
    generate: (bits) => pool.generate(bits),
    readyCount: (bits) => pool.readyCount(bits),
    [Symbol.dispose]() {
      pool.close()
      threads.close()
    },
  }
}

/** A thread takes about 8 MB and starts within 30 ms. */
const idleMs = 30 * secondMs

interface Thread {
  readonly worker: Worker
  job: PromiseWithResolvers<RsaKeyOctets> | undefined
  /** Takes back that it ends for want of work. */
  keep: () => void
}

class Threads {
  readonly #timers: Timers
  readonly #all = new Set<Thread>()
  /** The one that worked last comes last and is taken first, so that those which are not needed end. */
  readonly #idle: Thread[] = []

  constructor(timers: Timers) {
    this.#timers = timers
  }

  make(bits: number): Promise<RsaKeyOctets> {
    const thread = this.#idle.pop() ?? this.#start()
    thread.keep()
    thread.worker.ref()
    thread.job = Promise.withResolvers()
    thread.worker.postMessage(bits)
    return thread.job.promise
  }

  /** A key that is being made cannot be interrupted: its thread ends when it is done, and the process not before. */
  close(): void {
    for (const { worker } of this.#all) void worker.terminate()
  }

  #start(): Thread {
    const worker = new Worker(new URL(`./rsa-key-thread${extname(import.meta.url)}`, import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    })
    const thread: Thread = { worker, job: undefined, keep: () => {} }
    let failure: unknown = new Error("The thread ended before the key was made.")
    worker.on("message", (key: RsaKeyOctets) => {
      const { job } = thread
      thread.job = undefined
      this.#putBack(thread)
      job?.resolve(key)
    })
    worker.on("error", (error) => void (failure = error))
    worker.on("exit", () => {
      thread.keep()
      this.#all.delete(thread)
      if (this.#idle.includes(thread)) this.#idle.splice(this.#idle.indexOf(thread), 1)
      thread.job?.reject(failure)
    })
    this.#all.add(thread)
    return thread
  }

  #putBack(thread: Thread): void {
    // While nobody waits for it, it keeps no process alive.
    thread.worker.unref()
    this.#idle.push(thread)
    thread.keep = this.#timers.after(idleMs, () => {
      this.#idle.splice(this.#idle.indexOf(thread), 1)
      void thread.worker.terminate()
    })
  }
}

// RSA keys are generated on separate threads. libuv's pool has four threads whatever the number of cores, which also serve signatures,
// files and name look-ups. Separate threads can also yield to all requests.
import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import { secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import type { RsaKeyOctets, RsaKeySource } from "../x509/key-generation.ts"
import { KeyPool } from "./key-pool.ts"

export interface RsaKeysOptions {
  /** Number of keys generated concurrently: the number of cores, but at least two, so that a key that takes minutes blocks no other. */
  readonly threadCount: number
  readonly timers: Timers
  /** Number of keys to keep ready, by size; in memory only. */
  readonly stock?: ReadonlyMap<number, number>
}

export interface RsaKeys extends RsaKeySource, Disposable {
  /** Returns the number of keys of this size that are ready. */
  readyCount(bits: number): number
}

/** Opens a source of RSA keys, whose threads start on demand. */
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

/** Milliseconds after which an idle thread ends. A thread takes about 8 MB and starts within 30 ms. */
const idleMs = 30 * secondMs

interface Thread {
  readonly worker: Worker
  job: PromiseWithResolvers<RsaKeyOctets> | undefined
  /** Cancels the end of an idle thread. */
  keep: () => void
}

class Threads {
  readonly #timers: Timers
  readonly #all = new Set<Thread>()
  /** Stack: the thread that worked last is reused first, so that surplus threads stay idle and end. */
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

  /** Terminates all threads. A key in generation cannot be interrupted: its thread, and the process, end only when it is done. */
  close(): void {
    for (const { worker } of this.#all) void worker.terminate()
  }

  #start(): Thread {
    const worker = new Worker(new URL(`./rsa-key-thread${extname(import.meta.url)}`, import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    })
    const thread: Thread = { worker, job: undefined, keep: () => {} }
    let failure: unknown = new Error("The thread ended before the key was generated.")
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
    // An idle thread must not keep the process alive.
    thread.worker.unref()
    this.#idle.push(thread)
    thread.keep = this.#timers.after(idleMs, () => {
      this.#idle.splice(this.#idle.indexOf(thread), 1)
      void thread.worker.terminate()
    })
  }
}

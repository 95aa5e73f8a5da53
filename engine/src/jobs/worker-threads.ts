// Threads for work that takes long. They start on demand, handle one message after another, and end when they are idle.
import { Worker } from "node:worker_threads"
import { secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"

/** Milliseconds after which an idle thread ends. A thread takes about 8 MB and starts within 30 ms. */
const idleMs = 30 * secondMs

interface Thread<Result> {
  readonly worker: Worker
  job: PromiseWithResolvers<Result> | undefined
  /** Cancels the end of an idle thread. */
  keep: () => void
}

export interface WorkerThreadsOptions {
  readonly timers: Timers
  /** Module of the threads. It answers each message with one message. */
  readonly module: URL
}

/** Threads of one module. The caller bounds how many messages are handled at once. */
export class WorkerThreads<Message, Result> {
  readonly #timers: Timers
  readonly #module: URL
  readonly #all = new Set<Thread<Result>>()
  /** Stack: the thread that worked last is reused first, so that surplus threads stay idle and end. */
  readonly #idle: Thread<Result>[] = []

  constructor({ timers, module }: WorkerThreadsOptions) {
    this.#timers = timers
    this.#module = module
  }

  run(message: Message): Promise<Result> {
    const thread = this.#idle.pop() ?? this.#start()
    thread.keep()
    thread.worker.ref()
    thread.job = Promise.withResolvers()
    thread.worker.postMessage(message)
    return thread.job.promise
  }

  /** Terminates all threads. Synchronous work cannot be interrupted: its thread, and the process, end only when it is done. */
  close(): void {
    for (const { worker } of this.#all) void worker.terminate()
  }

  #start(): Thread<Result> {
    const worker = new Worker(this.#module, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    })
    const thread: Thread<Result> = { worker, job: undefined, keep: () => {} }
    let failure: unknown = new Error("The thread ended before its work was done.")
    worker.on("message", (result: Result) => {
      const { job } = thread
      thread.job = undefined
      this.#putBack(thread)
      job?.resolve(result)
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

  #putBack(thread: Thread<Result>): void {
    // An idle thread must not keep the process alive.
    thread.worker.unref()
    this.#idle.push(thread)
    thread.keep = this.#timers.after(idleMs, () => {
      this.#idle.splice(this.#idle.indexOf(thread), 1)
      void thread.worker.terminate()
    })
  }
}

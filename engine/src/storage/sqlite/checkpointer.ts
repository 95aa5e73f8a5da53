// The write-ahead log grows until its pages are moved into the database file. SQLite would do that in a commit, which blocks all requests
// for as long as the disk takes; a separate thread does it here. SQLite restarts the log only when all of it has been moved. That never
// happens under continuous commits, so the last few pages are moved while writers wait.
import { extname } from "node:path"
import { Worker } from "node:worker_threads"

export interface CheckpointAnswer {
  /** Pages in the log, or -1 if there is none. */
  readonly logged: number
  readonly moved: number
}

export interface CheckpointerOptions {
  readonly path: string
  /** Returns the number of pages in the log. */
  readonly loggedPages: () => number
  /** Called with true when this thread takes over checkpoints, and with false when it has exited and the writer must do them again. */
  readonly takeOver: (taken: boolean) => void
}

/** Pages of 4 KiB in the log that start a checkpoint. A concurrent commit then shares the disk with 1 MiB of writes, not with more. */
const movedPages = 256
/** Commits before the thread starts. A process that commits less often does not need it. */
const busyCommits = 500
/** Reading the size of the log takes as long as a small commit. */
const lookEveryCommits = 16

export class Checkpointer {
  readonly #options: CheckpointerOptions
  #commitCount = 0
  #worker: Worker | undefined
  #isClosed = false
  #running = false
  #answer: PromiseWithResolvers<CheckpointAnswer | undefined> | undefined
  #quiet: PromiseWithResolvers<void> | undefined
  #writersWait: (() => void) | undefined

  constructor(options: CheckpointerOptions) {
    this.#options = options
  }

  /** Must be called after each commit. The next commit must wait for the returned promise. */
  committed(): Promise<void> | undefined {
    this.#commitCount += 1
    if (this.#isClosed || this.#commitCount < busyCommits) return undefined
    this.#writersWait?.()
    if (this.#quiet !== undefined) return this.#quiet.promise
    if (!this.#running && this.#commitCount % lookEveryCommits === 0 && this.#options.loggedPages() >= movedPages)
      void this.#run()
    return undefined
  }

  async close(): Promise<void> {
    await this.#answer?.promise
    const worker = this.#worker
    if (worker === undefined || this.#isClosed) return
    const ended = new Promise((resolve) => worker.once("exit", resolve))
    worker.ref()
    worker.postMessage("close")
    await ended
  }

  async #run(): Promise<void> {
    this.#running = true
    const first = await this.#checkpoint()
    // A reader of an old page prevents moving all of them. The next run moves the rest.
    if (first !== undefined && first.moved === first.logged) {
      const waiting = new Promise<void>((resolve) => (this.#writersWait = resolve))
      this.#quiet = Promise.withResolvers()
      await waiting
      this.#writersWait = undefined
      await this.#checkpoint()
      this.#quiet.resolve()
      this.#quiet = undefined
    }
    this.#running = false
  }

  /** Returns undefined if the thread has exited. */
  async #checkpoint(): Promise<CheckpointAnswer | undefined> {
    if (this.#isClosed) return undefined
    const worker = (this.#worker ??= this.#start())
    const answer = (this.#answer = Promise.withResolvers())
    // The worker must keep the process alive here: with nothing else pending, the process would exit before the answer.
    worker.ref()
    worker.postMessage("checkpoint")
    try {
      return await answer.promise
    } finally {
      worker.unref()
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL(`./checkpoint-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: this.#options.path,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    })
    worker.unref()
    worker.on("message", (answer: CheckpointAnswer) => this.#answer?.resolve(answer))
    // The `exit` event follows. The writer then checkpoints in its commits, as without a thread.
    worker.on("error", () => {})
    worker.on("exit", () => {
      this.#isClosed = true
      this.#answer?.resolve(undefined)
      this.#options.takeOver(false)
    })
    this.#options.takeOver(true)
    return worker
  }
}

// The write-ahead log grows until its pages are moved into the database file. Whoever commits would do that on the side, and
// hold up everybody for as long as the disk takes; here a thread of its own does it. SQLite starts the log over only when all
// of it has been moved, which never happens while commits go on, so the last few pages are moved while writers wait.
import { extname } from "node:path"
import { Worker } from "node:worker_threads"

export interface CheckpointAnswer {
  /** Pages in the log, -1 where there is none. */
  readonly logged: number
  readonly moved: number
}

export interface CheckpointerOptions {
  readonly path: string
  /** Pages in the log now. */
  readonly loggedPages: () => number
  /** Told once that this thread takes over, or that it is gone and the writer has to see to it again. */
  readonly takeOver: (taken: boolean) => void
}

/** Pages of 4 KiB in the log after which a thread moves them: whoever commits meanwhile shares the disk with 1 MiB, not with more. */
const movedPages = 256
/** A process that commits less often needs no thread for it. */
const busyCommits = 500
/** Looking takes as long as a small commit. */
const lookEveryCommits = 16

export class Checkpointer {
  readonly #options: CheckpointerOptions
  #commitCount = 0
  #worker: Worker | undefined
  #gone = false
  #running = false
  #answer: PromiseWithResolvers<CheckpointAnswer | undefined> | undefined
  #quiet: PromiseWithResolvers<void> | undefined
  #writersWait: (() => void) | undefined

  constructor(options: CheckpointerOptions) {
    this.#options = options
  }

  /** To be called after each commit, before the next; what it returns is to be waited for before that. */
  committed(): Promise<void> | undefined {
    this.#commitCount += 1
    if (this.#gone || this.#commitCount < busyCommits) return undefined
    this.#writersWait?.()
    if (this.#quiet !== undefined) return this.#quiet.promise
    if (!this.#running && this.#commitCount % lookEveryCommits === 0 && this.#options.loggedPages() >= movedPages)
      void this.#run()
    return undefined
  }

  async close(): Promise<void> {
    await this.#answer?.promise
    const worker = this.#worker
    if (worker === undefined || this.#gone) return
    const ended = new Promise((resolve) => worker.once("exit", resolve))
    worker.ref()
    worker.postMessage("close")
    await ended
  }

  async #run(): Promise<void> {
    this.#running = true
    const first = await this.#checkpoint()
    // With a reader on an old page not all can be moved: the next run does.
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

  /** Undefined where the thread is gone. */
  async #checkpoint(): Promise<CheckpointAnswer | undefined> {
    if (this.#gone) return undefined
    const worker = (this.#worker ??= this.#start())
    const answer = (this.#answer = Promise.withResolvers())
    // A process that waits for nothing else would end here, and what waits for this with it.
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
    // Its exit follows; what it could not do, the writer does on the side as it would without a thread.
    worker.on("error", () => {})
    worker.on("exit", () => {
      this.#gone = true
      this.#answer?.resolve(undefined)
      this.#options.takeOver(false)
    })
    this.#options.takeOver(true)
    return worker
  }
}

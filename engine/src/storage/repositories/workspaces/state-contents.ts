// Reads the contents of large states on a thread of its own, so that other requests are not delayed by it or by its garbage collection.
// Outputs larger than the heap limit end the thread and not the server.
import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import { secondMs } from "../../../core/time.ts"
import type { Timers } from "../../../core/timers.ts"
import type { FoundContents } from "../../../workspaces/state/state-parser.ts"

/** A chunk of a compressed state, or "end" after the last one. */
export type ContentsPiece = Uint8Array | "end"
/** Reply of the thread: "taken" after each chunk, the contents after "end". */
export type ContentsAnswer = "taken" | FoundContents

/** Idle time after which a thread ends. A thread takes about 10 MB and starts within 50 ms; large states seldom come alone. */
const idleMs = 30 * secondMs
/** Room for outputs of 16 MiB each, and for their intermediate forms. */
const maxHeapMiB = 512
/** Without a limit, the young generation grows until it takes most of the memory of a read. */
const maxYoungHeapMiB = 2

interface Thread {
  readonly worker: Worker
  answer: PromiseWithResolvers<ContentsAnswer> | undefined
  /** Reason that the thread ended; undefined while it runs. */
  failure: Error | undefined
  /** Cancels the idle timer of the thread. */
  keep: () => void
}

export class StateContents implements Disposable {
  readonly #timers: Timers
  readonly #threads = new Set<Thread>()
  #idle: Thread | undefined

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Returns the contents of a state. Throws the error of `compressed` or of the thread, or the reason of `signal` once it is aborted. */
  async read(compressed: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<FoundContents> {
    signal.throwIfAborted()
    const thread = this.#taken()
    const end = () => void thread.worker.terminate()
    signal.addEventListener("abort", end)
    try {
      for await (const chunk of compressed) await send(thread, chunk)
      const contents = await send(thread, "end")
      if (contents === "taken") throw new Error("The thread sent an unexpected answer.")
      this.#putBack(thread)
      return contents
    } catch (error) {
      end()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener("abort", end)
    }
  }

  [Symbol.dispose](): void {
    for (const { worker } of this.#threads) void worker.terminate()
  }

  #taken(): Thread {
    const thread = this.#idle ?? this.#start()
    this.#idle = undefined
    thread.keep()
    thread.worker.ref()
    return thread
  }

  #putBack(thread: Thread): void {
    if (this.#idle !== undefined) {
      void thread.worker.terminate()
      return
    }
    // An idle thread does not keep the process alive.
    thread.worker.unref()
    this.#idle = thread
    thread.keep = this.#timers.after(idleMs, () => {
      this.#idle = undefined
      void thread.worker.terminate()
    })
  }

  #start(): Thread {
    const worker = new Worker(new URL(`./state-contents-thread${extname(import.meta.url)}`, import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB, maxYoungGenerationSizeMb: maxYoungHeapMiB },
    })
    const thread: Thread = { worker, answer: undefined, failure: undefined, keep: () => {} }
    worker.on("message", (answer: ContentsAnswer) => thread.answer?.resolve(answer))
    worker.on("error", (error) => {
      thread.failure = error instanceof Error ? error : new Error("The thread failed.", { cause: error })
    })
    worker.on("exit", () => {
      thread.keep()
      this.#threads.delete(thread)
      if (this.#idle === thread) this.#idle = undefined
      thread.failure ??= new Error("The thread ended before the state was read.")
      thread.answer?.reject(thread.failure)
    })
    this.#threads.add(thread)
    return thread
  }
}

function send(thread: Thread, chunk: ContentsPiece): Promise<ContentsAnswer> {
  if (thread.failure !== undefined) throw thread.failure
  thread.answer = Promise.withResolvers()
  thread.worker.postMessage(chunk, givenAway(chunk))
  return thread.answer.promise
}

/** Returns the buffers to transfer. A chunk that owns its whole buffer is transferred; any other is copied. */
function givenAway(chunk: ContentsPiece): ArrayBuffer[] {
  if (chunk === "end" || chunk.byteLength !== chunk.buffer.byteLength) return []
  return chunk.buffer instanceof ArrayBuffer ? [chunk.buffer] : []
}

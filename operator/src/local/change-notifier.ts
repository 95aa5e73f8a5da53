// Ends a pause when something is written into one of some folders, where the system tells. It does not on network file systems:
// whoever waits looks from time to time all the same.
import { type FSWatcher, watch } from "node:fs"
import { type OperatorRuntime, pause } from "../runtime.ts"

/** Systems let nobody listen at any number of them; in the others changes are found later. */
const foldersMaximum = 100

export class Doorbell implements Disposable {
  readonly #watchers = new Map<string, FSWatcher>()
  /** Since the last pause has ended. */
  #hasRung = false
  #rung = () => {}

  /** Listens at these, and at no others. */
  listen(folders: ReadonlySet<string>): void {
    for (const folder of this.#watchers.keys()) if (!folders.has(folder)) this.#leave(folder)
    for (const folder of folders) {
      if (this.#watchers.size >= foldersMaximum) return
      if (!this.#watchers.has(folder)) this.#begin(folder)
    }
  }

  #begin(folder: string): void {
    try {
      const watcher = watch(folder, () => {
        this.#hasRung = true
        this.#rung()
      })
      watcher.on("error", () => this.#leave(folder))
      this.#watchers.set(folder, watcher)
    } catch {
      // It is gone, or nobody tells of it.
    }
  }

  #leave(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  /** Until something was written, and however often that happens at least so long. */
  async pause(
    { leastMs, mostMs }: { readonly leastMs: number; readonly mostMs: number },
    runtime: Pick<OperatorRuntime, "timers">,
    signal: AbortSignal,
  ): Promise<void> {
    await pause(leastMs, runtime, signal)
    if (!this.#hasRung) {
      const rung = new AbortController()
      this.#rung = () => rung.abort()
      await pause(mostMs - leastMs, runtime, AbortSignal.any([signal, rung.signal]))
    }
    this.#hasRung = false
  }

  [Symbol.dispose](): void {
    this.listen(new Set())
  }
}

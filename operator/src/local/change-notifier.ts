// Ends a pause when a file changes in one of several folders. Network file systems send no notifications, so callers poll too.
import { type FSWatcher, watch } from "node:fs"
import { type OperatorRuntime, pause } from "../runtime.ts"

/** Operating systems limit the number of watches. Changes in other folders are found by polling. */
const maxFolders = 100

export class ChangeNotifier implements Disposable {
  readonly #watchers = new Map<string, FSWatcher>()
  /** True if a change occurred since the last pause ended. */
  #hasRung = false
  #rung = () => {}

  /** Watches exactly these folders. */
  listen(folders: ReadonlySet<string>): void {
    for (const folder of this.#watchers.keys()) if (!folders.has(folder)) this.#leave(folder)
    for (const folder of folders) {
      if (this.#watchers.size >= maxFolders) return
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
      // The folder is gone, or its file system cannot be watched.
    }
  }

  #leave(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  /** Pauses until a change, but at least `leastMs` and at most `mostMs`. */
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

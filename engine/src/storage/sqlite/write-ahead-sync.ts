// Makes commits durable without blocking the thread. SQLite itself would wait for the disk inside the commit, with every other request
// behind it. Between two syncs the log is only appended to, so a sync covers all commits before it. With `synchronous = normal`, the sync
// of the log is all that a commit lacks to be durable (SQLite's documentation of WAL mode).
import { closeSync, fdatasync, openSync } from "node:fs"
import { promisify } from "node:util"

export type SyncFile = (descriptor: number) => Promise<void>

export const syncFile: SyncFile = promisify(fdatasync)

export class WriteAheadSync {
  readonly #path: string
  readonly #sync: SyncFile
  #descriptor: number | undefined

  constructor(databasePath: string, sync: SyncFile) {
    this.#path = `${databasePath}-wal`
    this.#sync = sync
  }

  /** Syncs all earlier commits. Must not be called again before it settles. */
  async synced(): Promise<void> {
    // Opened for writing, because Windows flushes nothing else. The log is not replaced while a connection is open.
    await this.#sync((this.#descriptor ??= openSync(this.#path, "r+")))
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

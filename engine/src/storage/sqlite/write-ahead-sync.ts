// Brings what was committed onto the disk without holding up the thread: SQLite itself would wait for the disk inside the
// commit, with every other request behind it. The log is only ever appended to between two syncs, so that a sync covers all
// commits before it (SQLite's documentation of WAL mode: with `synchronous = normal`, it is the sync of the log alone that a
// commit lacks to be durable).
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

  /** All that was committed before. Not to be called again before it settles. */
  async synced(): Promise<void> {
    // For writing, because Windows flushes nothing else. The log is not replaced while a connection is open.
    await this.#sync((this.#descriptor ??= openSync(this.#path, "r+")))
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

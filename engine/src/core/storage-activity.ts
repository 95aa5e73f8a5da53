/** What a store has done since it was opened; counted as it happens, read when someone asks for metrics. */
export interface StorageActivity {
  readonly read: UnitsOfWork
  readonly write: UnitsOfWork
  /** Attempts that contention made necessary beyond the first. */
  retryCount: number
  /** Durable commits of writes; on SQLite one may carry many units of work. */
  commitCount: number
}

export type StorageOutcome = "done" | "refused" | "busy" | "failed"

export interface UnitsOfWork {
  /** `refused`: a rule said no. `busy`: contention or an unreachable database outlasted the retries. */
  readonly settled: Record<StorageOutcome, number>
  /** Now waiting for the writer, a reader or a connection. */
  waitingCount: number
  /** How long those that began have waited, together. */
  waitedMs: number
}

const unitsOfWork = (): UnitsOfWork => ({
  settled: { done: 0, refused: 0, busy: 0, failed: 0 },
  waitingCount: 0,
  waitedMs: 0,
})

export const noStorageActivity = (): StorageActivity => ({
  read: unitsOfWork(),
  write: unitsOfWork(),
  retryCount: 0,
  commitCount: 0,
})

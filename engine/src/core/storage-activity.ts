/** What a store has done since it was opened; counted as it happens, read when someone asks for metrics. */
export interface StorageActivity {
  readonly read: UnitsOfWork
  readonly write: UnitsOfWork
  /** Attempts that contention made necessary beyond the first. */
  retryCount: number
  /** Durable commits of writes; on SQLite one may carry many units of work. */
  commitCount: number
  /** None where no read replicas are configured. */
  readReplicas?: ReadReplicasActivity
}

export interface ReadReplicasActivity {
  /** Of the reads that a replica may answer: who did. */
  readonly reads: Record<ReadTarget, number>
  readonly replicas: readonly ReadReplicaActivity[]
}

export type ReadTarget = "replica" | "primary"

export interface ReadReplicaActivity {
  /** Its host and port, and its database. */
  readonly name: string
  /** Whether reads are sent there. */
  readonly isUp: boolean
  /** How long ago the primary was where the replica is now; undefined until that is known. */
  readonly lagMs: number | undefined
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

/** What was measured (`npm run bench:scale -- --write FILE`). Times are those of one core. */
export interface Costs {
  readonly operations: Readonly<Record<OperationName, OperationCost>>
  /** For each replica that does nothing, of every second. */
  readonly idleDatabaseMs: number
  /** What a durable commit takes beyond one that is not. */
  readonly flushMs: number
  /** Of an insert: to see that its mount is there, which shares a lock on that one row. */
  readonly mountCheckMs: number
  /** The database's part of an issue, with so many certificates stored. */
  readonly grown: readonly { readonly rows: number; readonly issueDatabaseMs: number }[]
  /** By table and index. */
  readonly bytesPerCertificate: Readonly<Record<string, number>>
  /** To take an expired certificate away; one job does it. */
  readonly tidy: { readonly databaseMs: number; readonly walBytes: number; readonly rowsPerSecond: number }
}

export const operationNames = ["issue", "lock", "show"] as const
export type OperationName = (typeof operationNames)[number]

export interface OperationCost {
  readonly replicaMs: number
  readonly databaseMs: number
  /** Whole pages left out: how many there are depends on how much is stored (`model.ts`). */
  readonly walBytes: number
}

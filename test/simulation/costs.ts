/** Measured costs (`npm run bench:scale -- --write FILE`). Times are those of one core. */
export interface Costs {
  readonly operations: Readonly<Record<OperationName, OperationCost>>
  /** Database time per second for each idle replica. */
  readonly idleDatabaseMs: number
  /** Additional time of a durable commit over an asynchronous one. */
  readonly flushMs: number
  /** Part of an insert that checks that its mount exists, which takes a shared lock on that row. */
  readonly mountCheckMs: number
  /** Database time of an issue, by the number of stored certificates. */
  readonly grown: readonly { readonly rows: number; readonly issueDatabaseMs: number }[]
  /** Keyed by table or index. */
  readonly bytesPerCertificate: Readonly<Record<string, number>>
  /** Cost of deleting an expired certificate; one job does it. */
  readonly tidy: { readonly databaseMs: number; readonly walBytes: number; readonly rowsPerSecond: number }
}

export const operationNames = ["issue", "lock", "show"] as const
export type OperationName = (typeof operationNames)[number]

export interface OperationCost {
  readonly replicaMs: number
  readonly databaseMs: number
  /** Excludes full-page images, whose number depends on the amount of stored data (`model.ts`). */
  readonly walBytes: number
}

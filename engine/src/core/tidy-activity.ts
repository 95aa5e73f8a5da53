/** What tidying has done in this process since the engine was opened; counted as it happens, read when someone asks for metrics. */
export interface TidyActivity {
  readonly runs: Record<"finished" | "error" | "cancelled", number>
  readonly removed: Record<"certificates" | "revocations" | "metadata" | "issuers" | "leases", number>
}

export const newTidyActivity = (): TidyActivity => ({
  runs: { finished: 0, error: 0, cancelled: 0 },
  removed: { certificates: 0, revocations: 0, metadata: 0, issuers: 0, leases: 0 },
})

import type { Instant } from "./time.ts"

/** What one job has done in this process since the engine was opened. */
export interface JobActivity {
  runCount: number
  failureCount: number
  /** Of all runs together. */
  durationMs: number
  /** Undefined before the first run that ended well. */
  lastSuccessAt: Instant | undefined
  running: boolean
}

/** By the name of the job; counted as it happens, read when someone asks for metrics. */
export type JobActivities = ReadonlyMap<string, Readonly<JobActivity>>

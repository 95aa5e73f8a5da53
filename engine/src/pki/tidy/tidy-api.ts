import type { Instant } from "../../core/time.ts"
import type { AutoTidyPatch, AutoTidyView } from "./auto-tidy.ts"
import type { TidyOptions } from "./tidy-options.ts"
import type { TidyRun } from "./tidy-run.ts"

/** Options of a run. Absent ones have their default, which enables no operation. */
export type TidyInput = Partial<Omit<TidyOptions, "revokedSafetyBufferMs">> & {
  readonly revokedSafetyBufferMs?: number
}

export interface TidyStatus {
  /** Active or last run; undefined before the first. */
  readonly run: TidyRunView | undefined
  readonly lastAutomaticFinishedAt: Instant | undefined
  /** Last count; undefined unless `maintainStoredCertificateCounts` is set. */
  readonly stored: { readonly certificates: number; readonly revoked: number } | undefined
  readonly mountUuid: string
}

export type TidyRunView = Omit<TidyRun, "mountId" | "number" | "step" | "progress" | "automatic">

/** Tidying: deletes expired records. A background job does the work. */
export interface Tidy {
  /** Begins a run unless one is active. Returns warnings about that. */
  start(input: TidyInput): Promise<readonly string[]>
  /** Ends the active run before its next page. */
  cancel(): Promise<{ readonly status: TidyStatus; readonly warnings: readonly string[] }>
  getStatus(): Promise<TidyStatus>
  getAutomatic(): Promise<AutoTidyView>
  changeAutomatic(patch: AutoTidyPatch): Promise<AutoTidyView>
}

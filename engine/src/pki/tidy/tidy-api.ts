import type { Instant } from "../../core/time.ts"
import type { AutoTidyPatch, AutoTidyView } from "./auto-tidy.ts"
import type { TidyOptions } from "./tidy-options.ts"
import type { TidyRun } from "./tidy-run.ts"

/** What is left out has its default: of itself nothing is tidied. */
export type TidyInput = Partial<Omit<TidyOptions, "revokedSafetyBufferMs">> & {
  readonly revokedSafetyBufferMs?: number
}

export interface TidyStatus {
  /** The one that is going on, or the last; undefined before the first. */
  readonly run: TidyRunView | undefined
  readonly lastAutomaticFinishedAt: Instant | undefined
  /** As last counted; undefined where the mount does not say that it wants to know. */
  readonly stored: { readonly certificates: number; readonly revoked: number } | undefined
  readonly mountUuid: string
}

export type TidyRunView = Omit<TidyRun, "mountId" | "number" | "step" | "progress" | "automatic">

/** Tidying: deletes expired records. A background job does the work. */
export interface Tidy {
  /** Begins a run, unless one is going on; the answer is what to know about that. */
  start(input: TidyInput): Promise<readonly string[]>
  /** Ends the one that is going on before its next page. */
  cancel(): Promise<{ readonly status: TidyStatus; readonly warnings: readonly string[] }>
  getStatus(): Promise<TidyStatus>
  getAutomatic(): Promise<AutoTidyView>
  changeAutomatic(patch: AutoTidyPatch): Promise<AutoTidyView>
}

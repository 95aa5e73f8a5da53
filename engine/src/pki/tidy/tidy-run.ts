// One tidy run of a mount: what it was asked for, how far it is, and how it ended. It is a row that every step of it moves
// along in the transaction that takes something away, so that whoever goes on with it, after a crash and on any server, begins
// where it stopped, and its counts are what was done.
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../mount.ts"
import type { ResolvedTidyOptions } from "./tidy-options.ts"

export const tidyStates = ["inactive", "running", "finished", "error", "cancelling", "cancelled"] as const
export type TidyState = (typeof tidyStates)[number]

/** What was taken away, or found. */
export interface TidyCounts {
  readonly certificates: number
  readonly revocations: number
  /** Revoked certificates whose issuer is not in the mount, or was not known. */
  readonly missingIssuers: number
  /** Those of them whose issuer was found. */
  readonly associated: number
  readonly metadata: number
  readonly issuers: number
  readonly acmeOrders: number
  /** How many there were. */
  readonly acmeAccountsSeen: number
  /** Accounts without orders, from which nothing was heard for long. */
  readonly acmeAccountsRevoked: number
  /** Those that had been revoked for as long. */
  readonly acmeAccounts: number
  /** Revoked certificates whose time has come, and whose list has to name them once more before they go. */
  readonly waiting: number
}

export const noTidyCounts: TidyCounts = {
  certificates: 0,
  revocations: 0,
  missingIssuers: 0,
  associated: 0,
  metadata: 0,
  issuers: 0,
  acmeOrders: 0,
  acmeAccountsSeen: 0,
  acmeAccountsRevoked: 0,
  acmeAccounts: 0,
  waiting: 0,
}

/** In the order in which they are gone through. */
export const tidyPhases = [
  "associations",
  "certificates",
  "invalid certificates",
  "revocations",
  "metadata",
  "issuers",
  "ACME orders",
  "ACME accounts",
] as const
export type TidyPhase = (typeof tidyPhases)[number]

export interface TidyProgress {
  /** Undefined when all is done. */
  readonly phase: TidyPhase | undefined
  /** Behind which the phase goes on; empty at its beginning. Only the phase reads it. */
  readonly after: string
}

export interface TidyRun {
  readonly mountId: MountId
  /** Of the mount's runs. */
  readonly number: number
  /** How many steps it has made: whoever makes the next says which it saw, and a second one is refused. */
  readonly step: number
  readonly state: Exclude<TidyState, "inactive">
  readonly automatic: boolean
  readonly options: ResolvedTidyOptions
  readonly progress: TidyProgress
  readonly counts: TidyCounts
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  /** What it is at, or what is to be known of how it ended. */
  readonly message: string | null
  readonly error: string | null
}

/** All that is known of a mount's tidying. */
export interface TidyRecord {
  readonly run: TidyRun | undefined
  readonly lastAutomaticFinishedAt: Instant | undefined
}

export type NewTidyRun = Pick<TidyRun, "mountId" | "automatic" | "options" | "progress" | "startedAt">

export interface TidyRunRepository {
  find(mountId: MountId): Promise<TidyRecord>
  /** Of all mounts, those that are running or to be cancelled. */
  active(): Promise<readonly TidyRun[]>
  /** False while another is active. */
  begin(run: NewTidyRun): Promise<boolean>
  /** False unless one is running. */
  cancel(mountId: MountId): Promise<boolean>
  /** False where the run is not as it was seen, or is to be cancelled: then nothing else may be done either. */
  advance(seen: TidyRun, to: Pick<TidyRun, "progress" | "counts" | "message">): Promise<boolean>
  /** False where the run is not as it was seen. */
  finish(seen: TidyRun, end: TidyEnd): Promise<boolean>
}

export interface TidyEnd {
  readonly state: "finished" | "error" | "cancelled"
  readonly message: string | null
  readonly error: string | null
  readonly now: Instant
}

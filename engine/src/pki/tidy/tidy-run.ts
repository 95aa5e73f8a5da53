// Tidy run of a mount: its options, progress and result. Each step updates the row of the run in the transaction that removes records.
// After a crash, any server can therefore continue at the same place, and the counts are exact.
import type { Instant } from "../../core/time.ts"
import type { CompleteCrl, CrlKey } from "../crl/crl-repository.ts"
import { shardOf } from "../crl/shard.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import type { MountId } from "../mounts/mount.ts"
import type { EndedRevocation } from "../revocation/revocation.ts"
import type { ResolvedTidyOptions } from "./tidy-options.ts"

export const tidyStates = ["inactive", "running", "finished", "error", "cancelling", "cancelled"] as const
export type TidyState = (typeof tidyStates)[number]

/** Numbers of removed or found records. */
export interface TidyCounts {
  readonly certificates: number
  readonly revocations: number
  /** Revoked certificates whose issuer is unknown or not in the mount. */
  readonly missingIssuers: number
  /** Number of these whose issuer was then found. */
  readonly associated: number
  readonly metadata: number
  readonly issuers: number
  readonly acmeOrders: number
  /** Accounts that existed when the phase began. */
  readonly acmeAccountsSeen: number
  /** Accounts that were revoked, because they had no orders and no recent activity. */
  readonly acmeAccountsRevoked: number
  /** Accounts that were removed, because they had been revoked for as long. */
  readonly acmeAccounts: number
  /** Revoked certificates that have expired, but must appear on one more list before they are removed. */
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

/** Phases in the order of execution. */
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
  /** Undefined if all phases are done. */
  readonly phase: TidyPhase | undefined
  /** Position in the phase; empty at its beginning. Only the phase interprets it. */
  readonly after: string
}

export interface TidyRun {
  readonly mountId: MountId
  /** Number among the runs of the mount. */
  readonly number: number
  /** Number of steps made. A server that makes a step passes the number that it read; if it has changed, the step is rejected. */
  readonly step: number
  readonly state: Exclude<TidyState, "inactive">
  readonly automatic: boolean
  readonly options: ResolvedTidyOptions
  readonly progress: TidyProgress
  readonly counts: TidyCounts
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  /** Current work, or a note about the end of the run. */
  readonly message: string | null
  readonly error: string | null
}

/** Tidy state of a mount. */
export interface TidyRecord {
  readonly run: TidyRun | undefined
  readonly lastAutomaticFinishedAt: Instant | undefined
}

export type NewTidyRun = Pick<TidyRun, "mountId" | "automatic" | "options" | "progress" | "startedAt">

export interface TidyRunRepository {
  find(mountId: MountId): Promise<TidyRecord>
  /** Returns the runs of all mounts that are running or being cancelled. */
  active(): Promise<readonly TidyRun[]>
  /** Begins a run. Returns false while another one is active. */
  begin(run: NewTidyRun): Promise<boolean>
  /** Cancels the run. Returns false unless one is running. */
  cancel(mountId: MountId): Promise<boolean>
  /** Records a step. Returns false if the run changed since it was read, or is being cancelled; the caller must then roll back. */
  advance(seen: TidyRun, to: Pick<TidyRun, "progress" | "counts" | "message">): Promise<boolean>
  /** Ends a run. Returns false if it changed since it was read. */
  finish(seen: TidyRun, end: TidyEnd): Promise<boolean>
}

export interface TidyEnd {
  readonly state: "finished" | "error" | "cancelled"
  readonly message: string | null
  readonly error: string | null
  readonly now: Instant
}

// Rules for which records may be removed, and when.

type Buffers = Pick<ResolvedTidyOptions, "safetyBufferMs" | "revokedSafetyBufferMs" | "issuerSafetyBufferMs">

/** `notAfter` is the last second of validity (RFC 5280, section 4.1.2.5), so it must be before now. */
const hasEnded = (notAfter: Instant, bufferMs: number, now: Instant): boolean => now > notAfter + bufferMs

export const isCertificateDue = (
  { notAfter, isRevoked }: { readonly notAfter: Instant; readonly isRevoked: boolean },
  { safetyBufferMs, revokedSafetyBufferMs }: Buffers,
  now: Instant,
): boolean => hasEnded(notAfter, isRevoked ? revokedSafetyBufferMs : safetyBufferMs, now)

/** Returns an instant. Certificates that expire after it cannot be removed yet. */
export const earliestEnd = ({ safetyBufferMs, revokedSafetyBufferMs }: Buffers, now: Instant): Instant =>
  now - Math.min(safetyBufferMs, revokedSafetyBufferMs)

/** Published complete list, or shard of one, that will be published again. */
export interface PublishedList {
  readonly key: Pick<CrlKey, "list" | "shard">
  readonly complete: Pick<CompleteCrl, "covered" | "thisUpdate" | "nextUpdate">
}

/**
 * Decides whether a revocation may be removed. `listed-first`: an entry stays until every list that contains it is a complete list
 * that was made after the certificate's expiry (RFC 5280, section 3.3). Lists after their `nextUpdate` are ignored: they grew too
 * long to be rebuilt, and stay so until entries are removed.
 */
export function revocationDue(
  revocation: EndedRevocation,
  lists: readonly PublishedList[],
  { revokedSafetyBufferMs }: Buffers,
  now: Instant,
): "due" | "early" | "listed-first" {
  const { serialNumber, list, number, notAfter } = revocation
  if (!hasEnded(notAfter, revokedSafetyBufferMs, now)) return "early"
  const contained = lists
    .filter(({ key }) => key.list === list && shardOf(serialNumber, key.shard.count).index === key.shard.index)
    .filter(({ complete }) => complete.nextUpdate > now)
    .every(({ complete }) => complete.thisUpdate > notAfter && complete.covered >= number)
  return contained ? "due" : "listed-first"
}

/** Returns expired issuers, except the default issuer, which is in use. */
export const expiredIssuers = (
  issuers: readonly ParsedIssuer[],
  defaultId: ParsedIssuer["id"] | null,
  { issuerSafetyBufferMs }: Buffers,
  now: Instant,
): readonly ParsedIssuer[] =>
  issuers.filter(({ id, parsed }) => id !== defaultId && hasEnded(parsed.notAfter, issuerSafetyBufferMs, now))

const operations: Readonly<Record<TidyPhase, keyof ResolvedTidyOptions>> = {
  associations: "tidyRevokedCertIssuerAssociations",
  certificates: "tidyCertStore",
  "invalid certificates": "tidyInvalidCerts",
  revocations: "tidyRevokedCerts",
  metadata: "tidyCertMetadata",
  issuers: "tidyExpiredIssuers",
  "ACME orders": "tidyAcme",
  "ACME accounts": "tidyAcme",
}

/** Returns the first phase of a run, or the phase after `done`. */
export function nextPhase(options: ResolvedTidyOptions, done?: TidyPhase): TidyProgress {
  const left = tidyPhases.slice(done === undefined ? 0 : tidyPhases.indexOf(done) + 1)
  return { phase: left.find((phase) => options[operations[phase]] === true), after: "" }
}

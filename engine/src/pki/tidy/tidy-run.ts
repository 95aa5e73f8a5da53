// One tidy run of a mount: what it was asked for, how far it is, and how it ended. It is a row that every step of it moves
// along in the transaction that takes something away, so that whoever goes on with it, after a crash and on any server, begins
// where it stopped, and its counts are what was done.
import type { Instant } from "../../core/time.ts"
import type { CompleteCrl, CrlKey } from "../crl/crl-repository.ts"
import { shardOf } from "../crl/shard.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import type { MountId } from "../mounts/mount.ts"
import type { EndedRevocation } from "../revocation/revocation.ts"
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

// What may go, and what has to stay a while.

type Buffers = Pick<ResolvedTidyOptions, "safetyBufferMs" | "revokedSafetyBufferMs" | "issuerSafetyBufferMs">

/** The end is the last moment of validity (RFC 5280, section 4.1.2.5), so that it has passed only afterwards. */
const hasEnded = (notAfter: Instant, bufferMs: number, now: Instant): boolean => now > notAfter + bufferMs

export const isCertificateDue = (
  { notAfter, isRevoked }: { readonly notAfter: Instant; readonly isRevoked: boolean },
  { safetyBufferMs, revokedSafetyBufferMs }: Buffers,
  now: Instant,
): boolean => hasEnded(notAfter, isRevoked ? revokedSafetyBufferMs : safetyBufferMs, now)

/** Whatever ended before it may be due, and nothing else. */
export const earliestEnd = ({ safetyBufferMs, revokedSafetyBufferMs }: Buffers, now: Instant): Instant =>
  now - Math.min(safetyBufferMs, revokedSafetyBufferMs)

/** A complete list, or a part of one, that is published and will be again. */
export interface PublishedList {
  readonly key: Pick<CrlKey, "list" | "shard">
  readonly complete: Pick<CompleteCrl, "covered" | "thisUpdate" | "nextUpdate">
}

/**
 * `listed-first`: an entry stays until a complete list that was made after the end of the certificate had it (RFC 5280, section
 * 3.3), and every list that it is on is one. A list whose time is over is not waited for: it could not be made again, because
 * it had grown too long, and will never be unless entries go.
 */
export function revocationDue(
  revocation: EndedRevocation,
  lists: readonly PublishedList[],
  { revokedSafetyBufferMs }: Buffers,
  now: Instant,
): "due" | "early" | "listed-first" {
  const { serialNumber, list, number, notAfter } = revocation
  if (!hasEnded(notAfter, revokedSafetyBufferMs, now)) return "early"
  const hadIt = lists
    .filter(({ key }) => key.list === list && shardOf(serialNumber, key.shard.count).index === key.shard.index)
    .filter(({ complete }) => complete.nextUpdate > now)
    .every(({ complete }) => complete.thisUpdate > notAfter && complete.covered >= number)
  return hadIt ? "due" : "listed-first"
}

/** Whatever is default is used, expired or not. */
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

/** Where a run begins, or goes on after a phase. */
export function nextPhase(options: ResolvedTidyOptions, done?: TidyPhase): TidyProgress {
  const left = tidyPhases.slice(done === undefined ? 0 : tidyPhases.indexOf(done) + 1)
  return { phase: left.find((phase) => options[operations[phase]] === true), after: "" }
}

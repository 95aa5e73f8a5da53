// Ranges of certificates in databases with partitions (PostgreSQL). Certificates are filed by the week of their expiry. An expired
// week is thus dropped at once, and certificates with equal lifetimes are written together. A search for a serial number reads every
// partition, so there must be few. Long-lived certificates, which are not issued in masses, are filed at 0.
import { dayMs, type Instant } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"

/** Range of expiry: from this instant on, before that one. A range is a week from Monday to Monday, UTC. */
export interface FilingRange {
  readonly from: Instant
  readonly to: Instant
}

const weekMs = 7 * dayMs
/** First Monday after the epoch. */
const firstFrom = 4 * dayMs
/** Maximum validity of a certificate that is filed by expiry: 90 days, and the backdating of `notBefore`. */
const longestFiledMs = 13 * weekMs
/** Time for which the job that makes partitions may fail. */
const spareMs = weekMs

/** Returns the expiry of the certificate, or 0 if it is not filed by expiry. */
export function filedAt({ notBefore, notAfter }: { readonly notBefore: Instant; readonly notAfter: Instant }): Instant {
  return notAfter > 0 && notAfter - notBefore <= longestFiledMs ? notAfter : 0
}

export function filingRangeAt(instant: Instant): FilingRange {
  const from = firstFrom + Math.floor((instant - firstFrom) / weekMs) * weekMs
  return { from, to: from + weekMs }
}

/** Returns the ranges that certificates issued from now on need, except those that overlap existing ranges. */
export function missingRanges(now: Instant, known: readonly FilingRange[]): readonly FilingRange[] {
  const ranges: FilingRange[] = []
  const last = now + longestFiledMs + spareMs
  for (let range = filingRangeAt(now); range.from <= last; range = filingRangeAt(range.to))
    if (!known.some(({ from, to }) => from < range.to && range.from < to)) ranges.push(range)
  return ranges
}

/** Position in a range, which is ordered by expiry: after this certificate. */
export interface FilingCursor {
  readonly notAfter: Instant
  readonly number: number
}

/** Partitions of a database. */
export interface FilingRanges {
  /** Returns the ranges, earliest first. Undefined if the database does not partition certificates. */
  list(): Promise<readonly FilingRange[] | undefined>
  /**
   * Creates a partition unless it exists. Certificates of the range that were written before it existed move into it. If there are
   * too many to move while other servers wait, they are filed at 0 first.
   */
  make(range: FilingRange, signal?: AbortSignal): Promise<void>
  /** Files certificates without a partition at 0 if they expire before an instant. No partition will be made for them. */
  clearBefore(instant: Instant, signal: AbortSignal): Promise<void>
  /** Returns the mounts that have certificates in the range. */
  mountsIn(range: FilingRange): Promise<readonly MountId[]>
  /** Counts at most `limit` certificates. `next` is the position to continue at; undefined at the end. */
  count(
    range: FilingRange,
    mountId: MountId,
    limit: number,
    after?: FilingCursor,
  ): Promise<{ readonly count: number; readonly next: FilingCursor | undefined }>
  /**
   * Removes metadata of certificates in the range, earliest expiry first, beginning at an instant. `last` is the last expiry that
   * was removed.
   */
  removeMetadata(
    range: FilingRange,
    mountId: MountId,
    page: { readonly from: Instant; readonly limit: number },
  ): Promise<{ readonly count: number; readonly last: Instant | undefined }>
  /** Drops the partition with its contents. Returns false if a mount outside `mountIds` has certificates in it. */
  drop(range: FilingRange, mountIds: readonly MountId[]): Promise<boolean>
}

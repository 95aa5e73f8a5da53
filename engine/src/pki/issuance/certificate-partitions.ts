// Where certificates are filed by a store that keeps them in partitions (PostgreSQL): by the week in which they end, so that a
// week that is over goes at once, and all that is issued with the same lifetime is written side by side. Whoever looks for a
// serial number looks into every partition, so these are few: what lives for long, and is not issued in masses, is filed at 0.
import { dayMs, type Instant } from "../../core/time.ts"
import type { MountId } from "../mounts/mount.ts"

/** Ends from this instant on, and before that one; a week from Monday to Monday, UTC. */
export interface FilingRange {
  readonly from: Instant
  readonly to: Instant
}

const weekMs = 7 * dayMs
/** The first Monday. */
const firstFrom = 4 * dayMs
/** Of a certificate that is filed by its end: 90 days and what its validity begins before its issuance. */
const longestFiledMs = 13 * weekMs
/** The job that makes partitions may miss so long. */
const spareMs = weekMs

/** 0, or the end of the certificate. */
export function filedAt({ notBefore, notAfter }: { readonly notBefore: Instant; readonly notAfter: Instant }): Instant {
  return notAfter > 0 && notAfter - notBefore <= longestFiledMs ? notAfter : 0
}

export function filingRangeAt(instant: Instant): FilingRange {
  const from = firstFrom + Math.floor((instant - firstFrom) / weekMs) * weekMs
  return { from, to: from + weekMs }
}

/** Those of certificates that are issued from now on, as far as no other is in their place. */
export function missingRanges(now: Instant, known: readonly FilingRange[]): readonly FilingRange[] {
  const ranges: FilingRange[] = []
  const last = now + longestFiledMs + spareMs
  for (let range = filingRangeAt(now); range.from <= last; range = filingRangeAt(range.to))
    if (!known.some(({ from, to }) => from < range.to && range.from < to)) ranges.push(range)
  return ranges
}

/** Behind which certificate to go on, in the order of their ends. */
export interface FilingCursor {
  readonly notAfter: Instant
  readonly number: number
}

/** The partitions of a store. */
export interface FilingRanges {
  /** Soonest first; undefined where certificates are not filed but all in one place. */
  list(): Promise<readonly FilingRange[] | undefined>
  /**
   * Nothing where the range is there already. What was filed there meanwhile and stands elsewhere moves in; of more than servers
   * can wait for, the rest is filed at 0 before.
   */
  make(range: FilingRange, signal?: AbortSignal): Promise<void>
  /** What ends before an instant and stands in no range, and for which none will be made, is filed at 0. */
  clearBefore(instant: Instant, signal: AbortSignal): Promise<void>
  /** Those that have certificates in it. */
  mountsIn(range: FilingRange): Promise<readonly MountId[]>
  /** At most `limit`, and the place behind which to go on: undefined at the end. */
  count(
    range: FilingRange,
    mountId: MountId,
    limit: number,
    after?: FilingCursor,
  ): Promise<{ readonly count: number; readonly next: FilingCursor | undefined }>
  /** Of what was kept with certificates of the range, some of the soonest to end from an instant on. */
  removeMetadata(
    range: FilingRange,
    mountId: MountId,
    page: { readonly from: Instant; readonly limit: number },
  ): Promise<{ readonly count: number; readonly last: Instant | undefined }>
  /** Takes the range and all in it away, unless another mount than these has something there: false. */
  drop(range: FilingRange, mountIds: readonly MountId[]): Promise<boolean>
}

// Decides which partitions of certificates are dropped as a whole, and when. A partition is dropped as soon as all its certificates
// could be removed row by row. Every mount with certificates in it must tidy them automatically. The longest of their safety buffers
// must have passed since the end of the range.
import { dayMs, type Instant } from "../../core/time.ts"
import type { FilingRange } from "../issuance/certificate-partitions.ts"
import type { AutoTidySettings } from "./auto-tidy.ts"
import { resolvedTidyOptions } from "./tidy-options.ts"

/** Maximum time that expired certificates wait for their partition to be dropped, beyond their safety buffer. */
const longestWaitMs = 7 * dayMs
/** If a partition could not be dropped for this time, its certificates are removed row by row. */
const graceMs = dayMs

/** Returns the time to drop a range; undefined if a mount does not remove its certificates automatically. */
export function removalOf(range: FilingRange, mounts: readonly (AutoTidySettings | undefined)[]): Instant | undefined {
  let bufferMs = 0
  for (const settings of mounts) {
    if (settings === undefined || !settings.enabled || !settings.tidyCertStore) return undefined
    bufferMs = Math.max(bufferMs, ...buffersOf(settings))
  }
  return range.to + bufferMs
}

/** Returns true if a mount leaves its certificates in the range until the range is dropped, instead of removing them itself. */
export function isLeftToGo(
  range: FilingRange,
  mounts: readonly (AutoTidySettings | undefined)[],
  settings: AutoTidySettings,
  now: Instant,
): boolean {
  const removal = removalOf(range, mounts)
  if (removal === undefined || now >= removal + graceMs) return false
  return removal <= range.to + Math.min(...buffersOf(settings)) + longestWaitMs
}

function buffersOf(settings: AutoTidySettings): readonly [number, number] {
  const { safetyBufferMs, revokedSafetyBufferMs } = resolvedTidyOptions(settings)
  return [safetyBufferMs, revokedSafetyBufferMs]
}

// Which of the ranges that certificates are filed in go as a whole, and when: as soon as row by row all of them could, which is
// when every mount that has something there tidies its store by the clock, and the last of their safety buffers has passed
// since the end of the range.
import { dayMs, type Instant } from "../../core/time.ts"
import type { FilingRange } from "../issuance/certificate-partitions.ts"
import type { AutoTidySettings } from "./auto-tidy.ts"
import { resolvedTidyOptions } from "./tidy-options.ts"

/** For as long as this, expired certificates wait for the rest of their range, beyond what they must. */
const longestWaitMs = 7 * dayMs
/** A range that could not be taken away for so long is given up: what is in it goes row by row. */
const graceMs = dayMs

/** Undefined: never, because some mount keeps what it has there. */
export function removalOf(range: FilingRange, mounts: readonly (AutoTidySettings | undefined)[]): Instant | undefined {
  let bufferMs = 0
  for (const settings of mounts) {
    if (settings === undefined || !settings.enabled || !settings.tidyCertStore) return undefined
    bufferMs = Math.max(bufferMs, ...buffersOf(settings))
  }
  return range.to + bufferMs
}

/** Whether a mount leaves what it has in the range to go with it, rather than take it away by itself. */
export function isLeftToGo(
  range: FilingRange,
  mounts: readonly (AutoTidySettings | undefined)[],
  own: AutoTidySettings,
  now: Instant,
): boolean {
  const removal = removalOf(range, mounts)
  if (removal === undefined || now >= removal + graceMs) return false
  return removal <= range.to + Math.min(...buffersOf(own)) + longestWaitMs
}

function buffersOf(settings: AutoTidySettings): readonly [number, number] {
  const { safetyBufferMs, revokedSafetyBufferMs } = resolvedTidyOptions(settings)
  return [safetyBufferMs, revokedSafetyBufferMs]
}

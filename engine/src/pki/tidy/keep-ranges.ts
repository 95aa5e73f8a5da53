// Job that creates partitions of certificates in advance, and drops those that have expired. Several servers may run it at once: the
// second finds nothing to do.
import type { HeldLease } from "../../core/leases.ts"
import { formatInstant, hourMs, minuteMs } from "../../core/time.ts"
import type { PkiContext } from "../pki-context.ts"
import {
  type FilingCursor,
  type FilingRange,
  filingRangeAt,
  type FilingRanges,
  missingRanges,
} from "../issuance/certificate-partitions.ts"
import type { MountId } from "../mounts/mount.ts"
import type { AutoTidySettings } from "./auto-tidy.ts"
import type { TidyMetrics } from "./tidy-metrics.ts"
import { isLeftToGo, removalOf } from "./whole-ranges.ts"

/** Name and schedule of the job. */
export const keepRangesJob = { name: "partitions", everyMs: hourMs, timeoutMs: 30 * minuteMs } as const

const rowsPerCount = 10_000
const metadataPerWrite = 500

export type RangeContext = Pick<PkiContext, "storage" | "mountDirectory" | "mountSnapshots" | "runtime"> & {
  readonly filingRanges: FilingRanges
}

export async function keepRanges(context: RangeContext, metrics: TidyMetrics, { signal }: Pick<HeldLease, "signal">) {
  const { filingRanges, runtime } = context
  const now = runtime.clock.now()
  const known = await filingRanges.list()
  if (known === undefined) return
  await filingRanges.clearBefore(filingRangeAt(now).from, signal)
  for (const range of missingRanges(now, known)) {
    signal.throwIfAborted()
    await filingRanges.make(range, signal)
  }
  const ended = known.filter(({ to }) => to <= now)
  if (ended.length === 0) return
  const settings = await autoTidySettings(context)
  for (const range of ended) {
    signal.throwIfAborted()
    const mountIds = await filingRanges.mountsIn(range)
    const mounts = mountIds.map((id) => settings.get(id))
    const removal = removalOf(range, mounts)
    if (removal !== undefined && now >= removal) await removeRange(context, metrics, range, mountIds, signal)
  }
}

async function removeRange(
  { filingRanges, runtime }: RangeContext,
  metrics: TidyMetrics,
  range: FilingRange,
  mountIds: readonly MountId[],
  signal: AbortSignal,
): Promise<void> {
  let certificates = 0
  let metadata = 0
  for (const mountId of mountIds) {
    let from: number | undefined = range.from
    while (from !== undefined) {
      signal.throwIfAborted()
      const { count, last } = await filingRanges.removeMetadata(range, mountId, { from, limit: metadataPerWrite })
      metadata += count
      metrics.removed.add(count, { kind: "metadata" })
      from = count < metadataPerWrite ? undefined : last
    }
    let after: FilingCursor | undefined
    do {
      signal.throwIfAborted()
      const { count, next } = await filingRanges.count(range, mountId, rowsPerCount, after)
      certificates += count
      after = next
    } while (after !== undefined)
  }
  if (!(await filingRanges.drop(range, mountIds))) return
  metrics.removed.add(certificates, { kind: "certificates" })
  runtime.log.info("partition-removed", { ...instants(range), mounts: mountIds.length, certificates, metadata })
}

/** Returns the ranges that a mount's own run skips, because they will be dropped as a whole. */
export async function rangesLeftToGo(context: RangeContext, mountId: MountId): Promise<readonly FilingRange[]> {
  const { filingRanges, runtime } = context
  const now = runtime.clock.now()
  const known = (await filingRanges.list()) ?? []
  // Certificates in the other ranges have not expired.
  const begun = known.filter(({ from }) => from <= now)
  if (begun.length === 0) return []
  const settings = await autoTidySettings(context)
  const own = settings.get(mountId)
  if (own === undefined) return []
  const left: FilingRange[] = []
  for (const range of begun) {
    const mounts = (await filingRanges.mountsIn(range)).map((id) => settings.get(id))
    if (isLeftToGo(range, mounts, own, now)) left.push(range)
  }
  return left
}

async function autoTidySettings({
  storage,
  mountDirectory,
  mountSnapshots,
}: RangeContext): Promise<ReadonlyMap<MountId, AutoTidySettings>> {
  const { mounts } = await mountDirectory.current()
  const settings = new Map<MountId, AutoTidySettings>()
  for (const mount of mounts) settings.set(mount.id, (await mountSnapshots.read(storage, mount)).settings.autoTidy)
  return settings
}

const instants = ({ from, to }: FilingRange) => ({
  from: formatInstant(from),
  to: formatInstant(to),
})

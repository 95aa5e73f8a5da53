import type { HeldLease } from "../../core/leases.ts"
import { type Instant, minuteMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { MountId } from "../mounts/mount.ts"
import type { PkiContext } from "../pki-context.ts"
import {
  type CountedPart,
  type ExpiryPlace,
  type ExpiryRange,
  expiryWindows,
  type MountStatistics,
  type StatisticsRepository,
} from "./mount-statistics.ts"

// Counts of certificates of a mount, made at intervals and in small steps. Exact counts with every issuance would make all issuances
// wait for one row.

/** Runs one step in its own read transaction, so that other requests do not wait for a count, and no transaction runs for long. */
export type ReadStep = <T>(work: (store: StatisticsRepository) => Promise<T>) => Promise<T>

const rowsPerStep = 10_000
/** Enough for 10¹¹ certificates. */
const maxSteps = 10_000_000
const maxRolesShown = 500
const maxRoles = 100_000
const beginning = Number.MIN_SAFE_INTEGER
const end = Number.MAX_SAFE_INTEGER

export async function countMount(
  read: ReadStep,
  mountId: MountId,
  now: Instant,
  signal: AbortSignal,
): Promise<MountStatistics> {
  const bounds = [beginning, now, ...expiryWindows.map(({ ms }) => now + ms), end]
  const stored: number[] = []
  const revoked: number[] = []
  for (const [index, before] of bounds.slice(1).entries()) {
    const from = bounds[index] ?? beginning
    stored.push(await countRange(read, { mountId, revoked: false, from, before }, signal))
    revoked.push(await countRange(read, { mountId, revoked: true, from, before }, signal))
  }
  // Some certificates may have been revoked between the two counts.
  const [expired = 0, ...valid] = stored.map((count, index) => Math.max(0, count - (revoked[index] ?? 0)))
  const roles = await soonestOfRoles(read, mountId, now, signal)
  return {
    countedAt: now,
    valid: sum(valid),
    expired,
    revoked: sum(revoked),
    expiringWithin: expiryWindows.map((_window, index) => sum(valid.slice(0, index + 1))),
    soonestOfRoles: roles.slice(0, maxRolesShown),
    rolesLeftOut: Math.max(0, roles.length - maxRolesShown),
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

interface CountedRange {
  readonly mountId: MountId
  readonly revoked: boolean
  readonly from: Instant
  readonly before: Instant
}

async function countRange(
  read: ReadStep,
  { mountId, revoked, from, before }: CountedRange,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  let after: ExpiryPlace | undefined = { notAfter: from, number: 0 }
  for (let step = 0; after !== undefined && step < maxSteps; step += 1) {
    signal.throwIfAborted()
    const range: ExpiryRange = { mountId, revoked, before, after }
    const part: CountedPart = await read((store) => store.countPart(range, rowsPerStep))
    count += part.count
    after = part.next
    await nextTurn()
  }
  return count
}

async function soonestOfRoles(read: ReadStep, mountId: MountId, now: Instant, signal: AbortSignal) {
  const found: { readonly role: string; readonly notAfter: Instant }[] = []
  let role: string | undefined
  for (let count = 0; count < maxRoles; count += 1) {
    signal.throwIfAborted()
    const before: string = role ?? ""
    role = await read((store) => store.nextRole(mountId, before))
    if (role === undefined) break
    const notAfter = await soonestOf(read, mountId, role, now)
    if (notAfter !== undefined) found.push({ role, notAfter })
    await nextTurn()
  }
  return found.toSorted((one, other) => one.notAfter - other.notAfter)
}

const firstLookRows = 8
const maxReads = 10_000

/** Returns the earliest expiry of a role's valid certificates. Revoked ones are skipped, so the first read nearly always suffices. */
async function soonestOf(read: ReadStep, mountId: MountId, role: string, now: Instant): Promise<Instant | undefined> {
  let after: ExpiryPlace = { notAfter: now, number: 0 }
  let limit = firstLookRows
  for (let look = 0; look < maxReads; look += 1) {
    const from = after
    const rows = await read((store) => store.ofRole(mountId, role, from, limit))
    const valid = rows.find(({ isRevoked }) => !isRevoked)
    if (valid !== undefined) return valid.notAfter
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit) return undefined
    after = last
    limit = Math.min(limit * 2, rowsPerStep)
    await nextTurn()
  }
  return undefined
}

/** Name and schedule of the job. */
export const countCertificatesJob = { name: "statistics", everyMs: 5 * minuteMs, timeoutMs: 30 * minuteMs } as const

/** Counts the certificates of all mounts. One server counts, and all servers report the result. */
export async function countCertificates(
  { mountDirectory, storage, runtime }: Pick<PkiContext, "mountDirectory" | "storage" | "runtime">,
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const { mounts } = await mountDirectory.current()
  for (const mount of mounts) {
    const counted = await countMount(
      (work) => storage.readReplica(({ statistics }) => work(statistics)),
      mount.id,
      runtime.clock.now(),
      signal,
    )
    await storage.transact(async (repositories) => {
      // The mount may have been deleted while its certificates were counted.
      const { mounts: present } = await mountDirectory.within(repositories)
      if (present.some(({ id }) => id === mount.id)) await repositories.statistics.save(mount.id, counted)
    })
  }
}

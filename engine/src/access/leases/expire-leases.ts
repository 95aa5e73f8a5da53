// The end of leases: what they are for is revoked, unless that is over by itself.
import { isEngineError } from "../../core/errors.ts"
import type { Held } from "../../core/leases.ts"
import type { Storage } from "../../core/storage.ts"
import { type Instant, minuteMs, secondMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import type { PkiContext, PkiRepositories } from "../../pki/pki-context.ts"
import type { TidyMetrics } from "../../pki/tidy/tidy-metrics.ts"
import { refreshCrlsJob } from "../../pki/crl/refresh-crls.ts"
import { recordRevocation } from "../../pki/revocation/record-revocation.ts"
import type { FoundLease } from "./lease.ts"

type EndingContext = Pick<PkiContext, "mountDirectory" | "mountSnapshots">

/** Inside a transaction; whether a certificate was revoked by it. */
export async function endLease(
  { mountDirectory, mountSnapshots }: EndingContext,
  stores: PkiRepositories,
  { id, mountId, serialNumber }: FoundLease,
  now: Instant,
): Promise<boolean> {
  await stores.certificateLeases.remove(id)
  const mount = (await mountDirectory.within(stores)).mounts.find((one) => one.id === mountId)
  const record = mount && (await stores.certificates.find(mountId, serialNumber))
  if (mount === undefined || record === undefined || record.notAfter <= now) return false
  const snapshot = await mountSnapshots.within(stores, mount)
  const certificate = parseCertificate(record.certificate)
  try {
    await recordRevocation(snapshot, stores, { record, certificate, reason: "unspecified", now, isNew: false })
    return true
  } catch (error) {
    // It has become an issuer of the mount, which is not revoked like this. Nothing was written.
    if (isEngineError(error, "unprocessable")) return false
    throw error
  }
}

/** The name of the job. */
export const endLeasesJob = { name: "leases", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** In one transaction. */
export const leasesPerWrite = 50
const forgottenPerWrite = 500
/** In one run of the job; the rest waits for the next. */
const writesMaximum = 10_000
/** Tokens that have ended, forgotten beside: logins leave that to this job, since what they sweep is what others insert. */
export const tokensPerWrite = 500

export interface EndLeasesContext extends Pick<
  PkiContext,
  "runtime" | "mountDirectory" | "mountSnapshots" | "crlPublisher" | "wakeJob"
> {
  readonly storage: Storage<PkiRepositories>
  readonly tidyMetrics: TidyMetrics
}

export async function endLeases(context: EndLeasesContext, { signal }: Held): Promise<void> {
  const { storage, runtime, tidyMetrics, crlPublisher, wakeJob } = context
  const now = runtime.clock.now()
  /** Does some of it again and again, until there is less than a write full. */
  const all = async (perWrite: number, write: (stores: PkiRepositories) => Promise<number>): Promise<number> => {
    let total = 0
    for (let writes = 0; writes < writesMaximum; writes += 1) {
      signal.throwIfAborted()
      const count = await storage.transact(write)
      total += count
      if (count < perWrite) break
      await nextTurn()
    }
    return total
  }
  const swept = await all(forgottenPerWrite, (stores) => stores.certificateLeases.sweep(now, forgottenPerWrite))
  tidyMetrics.removed.add(swept, { kind: "leases" })
  await all(forgottenPerWrite, (stores) => stores.certificateLeases.giveUpOfEndedTokens(now, forgottenPerWrite))
  // Tokens go with the one that made them, and their leases are given up by that.
  await all(tokensPerWrite, ({ serviceTokens }) => serviceTokens.sweep(now, tokensPerWrite))
  const ended = await all(leasesPerWrite, async (stores) => {
    const leases = await stores.certificateLeases.givenUp(leasesPerWrite)
    for (const lease of leases) await endLease(context, stores, lease, now)
    return leases.length
  })
  if (ended === 0) return
  runtime.log.info("leases-ended", { count: ended })
  if (crlPublisher.isRefreshDue()) wakeJob(refreshCrlsJob.name)
}

// End of leases: the certificate of a lease is revoked, unless it has expired.
import { isEngineError } from "../../core/errors.ts"
import type { HeldLease } from "../../core/leases.ts"
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

/** Ends a lease inside a transaction. Returns true if that revoked a certificate. */
export async function endLease(
  { mountDirectory, mountSnapshots }: EndingContext,
  repositories: PkiRepositories,
  { id, mountId, serialNumber }: FoundLease,
  now: Instant,
): Promise<boolean> {
  await repositories.certificateLeases.remove(id)
  const mount = (await mountDirectory.within(repositories)).mounts.find((one) => one.id === mountId)
  const record = mount && (await repositories.certificates.find(mountId, serialNumber))
  if (mount === undefined || record === undefined || record.notAfter <= now) return false
  const snapshot = await mountSnapshots.within(repositories, mount)
  const certificate = parseCertificate(record.certificate)
  try {
    await recordRevocation(snapshot, repositories, { record, certificate, reason: "unspecified", now, isNew: false })
    return true
  } catch (error) {
    // The certificate has become an issuer of the mount, which cannot be revoked here. Nothing was written.
    if (isEngineError(error, "unprocessable")) return false
    throw error
  }
}

export const endLeasesJob = { name: "leases", everyMs: 30 * secondMs, timeoutMs: 30 * minuteMs } as const

/** Leases ended in one transaction. */
export const leasesPerWrite = 50
const forgottenPerWrite = 500
/** Transactions of one step of a run. The rest waits for the next run. */
const maxWrites = 10_000
/** Expired tokens deleted in one transaction. Logins leave this to the job, because it would conflict with concurrent inserts. */
export const tokensPerWrite = 500

export interface EndLeasesContext extends Pick<
  PkiContext,
  "runtime" | "mountDirectory" | "mountSnapshots" | "crlPublisher" | "wakeJob"
> {
  readonly storage: Storage<PkiRepositories>
  readonly tidyMetrics: TidyMetrics
}

/** Runs the job: deletes expired leases and tokens, and ends the leases that are given up. */
export async function endLeases(context: EndLeasesContext, { signal }: HeldLease): Promise<void> {
  const { storage, runtime, tidyMetrics, crlPublisher, wakeJob } = context
  const now = runtime.clock.now()
  /** Repeats a write until it processes less than a full batch. Returns the total. */
  const all = async (perWrite: number, write: (repositories: PkiRepositories) => Promise<number>): Promise<number> => {
    let total = 0
    for (let writes = 0; writes < maxWrites; writes += 1) {
      signal.throwIfAborted()
      const count = await storage.transact(write)
      total += count
      if (count < perWrite) break
      await nextTurn()
    }
    return total
  }
  const swept = await all(forgottenPerWrite, (repositories) =>
    repositories.certificateLeases.sweep(now, forgottenPerWrite),
  )
  tidyMetrics.removed.add(swept, { kind: "leases" })
  await all(forgottenPerWrite, (repositories) =>
    repositories.certificateLeases.giveUpOfEndedTokens(now, forgottenPerWrite),
  )
  // Tokens are deleted with their parent, which marks their leases as given up.
  await all(tokensPerWrite, ({ serviceTokens }) => serviceTokens.sweep(now, tokensPerWrite))
  const ended = await all(leasesPerWrite, async (repositories) => {
    const leases = await repositories.certificateLeases.givenUp(leasesPerWrite)
    for (const lease of leases) await endLease(context, repositories, lease, now)
    return leases.length
  })
  if (ended === 0) return
  runtime.log.info("leases-ended", { count: ended })
  if (crlPublisher.isRefreshDue()) wakeJob(refreshCrlsJob.name)
}

// Opens an engine in this process: composes storage, services and jobs.
import { auditLog } from "./audit/audit-log.ts"
import { saltedHash } from "./audit/salted-hash.ts"
import { composeAcme } from "./composition/acme.ts"
import { startEngineJobs } from "./composition/jobs.ts"
import { type EmbeddedOptions, partsOf } from "./composition/options.ts"
import { openOutgoing } from "./composition/outgoing.ts"
import { composePki } from "./composition/pki.ts"
import { EmbeddedEngine, type EngineContext } from "./composition/server.ts"
import { openStorage } from "./composition/storage.ts"
import { composeWorkspaces } from "./composition/workspaces.ts"
import { noAudit } from "./core/audit.ts"
import { newId } from "./core/ids.ts"
import type { ServedEngine } from "./engine.ts"
import { exclusively } from "./jobs/exclusively.ts"
import { authentication } from "./organizations/authentication.ts"
import { bootstrap } from "./organizations/bootstrap.ts"
import { tokenUses } from "./organizations/token.ts"
import { addressBounds } from "./access/logins/address-bounds.ts"
import { registerAuthorities } from "./pki/statistics/mount-metrics.ts"
import { leasesOver } from "./storage/sql/leases.ts"
import { siteSecret } from "./storage/sealing/site-secret.ts"

export type { EmbeddedOptions } from "./composition/options.ts"

/**
 * Opens and migrates the database, creates the user `root` if it is missing, and returns an engine that acts as that user. The formats of
 * `url` are those of `openEngine` for embedded engines.
 */
export async function openEmbedded(url: string, options: EmbeddedOptions = {}): Promise<ServedEngine> {
  await using opening = new AsyncDisposableStack()
  const parts = partsOf(options, opening)
  const { runtime, timers, meter } = parts
  const { random } = runtime
  const wakeJob = (name: string) => jobs.wake(name)
  const opened = await openStorage(url, parts)
  const { database, sealer, storage, cacheVersions } = opened
  const workspaces = await composeWorkspaces(opened, wakeJob, parts)
  const root = await bootstrap(storage, runtime)
  const audit =
    options.auditLog &&
    auditLog({
      target: options.auditLog.target,
      authorities: options.auditLog.authorities,
      hash: saltedHash(await siteSecret(database, "audit-salt", sealer, random)),
      runtime,
      timers,
      recordsOpenReads: options.auditLog.recordsOpenReads ?? false,
    })
  if (audit !== undefined) opening.defer(() => audit.close())
  // A file can be opened with its first entry. A syslog receiver must be reached before, because the entry cannot wait for it.
  if (options.auditLog?.opensLate !== true || options.auditLog.target.kind === "syslog") await audit?.open()
  const uses = tokenUses(storage, runtime)
  opening.defer(() => uses.settled())
  const stopping = new AbortController()
  const stopped = stopping.signal
  const holder = newId("eng", random)
  const exclusive = exclusively({ leases: leasesOver(database), holder, runtime, timers, stopped })
  const fetchFrom = openOutgoing(parts)
  const pki = composePki(
    opened,
    { exclusively: exclusive, fetchFrom, signer: workspaces.stateTools.signer, wakeJob },
    parts,
  )
  const beforeAcme = { ...opened, ...workspaces, ...pki, audit: audit ?? noAudit, metrics: options.metrics }
  const context: EngineContext = { ...beforeAcme, ...composeAcme(beforeAcme, parts) }
  const jobs = startEngineJobs(context, { exclusively: exclusive, fetchFrom, stopped }, parts)
  registerAuthorities(meter, () => context.figures.current())
  opening.defer(async () => {
    stopping.abort(new Error("the engine is closing"))
    await jobs.idle()
  })
  const closing = opening.move()
  const { signer } = workspaces.stateTools
  const authenticate = authentication(storage, cacheVersions, runtime, uses, signer, addressBounds)
  return new EmbeddedEngine(context, root, authenticate, () => closing.disposeAsync())
}

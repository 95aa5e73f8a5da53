// Background cleanup of states and configuration versions: uploads that never finished, abandoned documents, and data that retention
// policies delete.
import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { hourMs, minuteMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import type { StateDocumentRepository } from "./state-document-repository.ts"
import { removeBackingData } from "./state-document.ts"
import { grantMs } from "./state-grants.ts"
import type { StateVersionRepository } from "./state-version-repository.ts"

export interface UpkeepContext {
  readonly storage: Storage<{
    readonly configurationVersions: ConfigurationVersionRepository
    readonly stateVersions: StateVersionRepository
    readonly stateDocuments: StateDocumentRepository
  }>
  readonly runtime: Runtime
}

export const stateUpkeepJob = { name: "state-upkeep", everyMs: 5 * minuteMs, timeoutMs: 30 * minuteMs } as const

/** Limit of versions per transaction. */
const versionsPerWrite = 100
/** Limit of transactions per run of the job. The next run continues. */
const maxWrites = 10_000
/** An upload that began just before its URL expired may still be running this long after. */
const longestUploadMs = hourMs

export async function keepStates(
  { storage, runtime }: UpkeepContext,
  { signal }: Pick<HeldLease, "signal">,
): Promise<void> {
  const { clock, log } = runtime
  const now = clock.now()
  const uploadsEndedBefore = now - grantMs.upload - longestUploadMs
  /** Repeats a write until it changes nothing. Returns the total. */
  const all = async (write: () => Promise<number>): Promise<number> => {
    let total = 0
    for (let writes = 0; writes < maxWrites; writes += 1) {
      signal.throwIfAborted()
      const count = await write()
      if (count === 0) break
      total += count
      await nextTurn()
    }
    return total
  }

  const expired = await all(() =>
    storage.transact(({ stateVersions }) => stateVersions.discardOlder(uploadsEndedBefore, versionsPerWrite)),
  )
  const givenUp = await all(() =>
    storage.transact(async (repositories) => {
      const ids = await repositories.stateVersions.givenUp(now, versionsPerWrite)
      await repositories.stateVersions.setBackingDataDeleted(ids)
      for (const id of ids) await removeBackingData(repositories, id)
      return ids.length
    }),
  )
  const configurationsGivenUp = await all(() =>
    storage.transact(async ({ configurationVersions }) => {
      const ids = await configurationVersions.givenUp(now, versionsPerWrite)
      await configurationVersions.removeContents(ids)
      return ids.length
    }),
  )
  await all(() => storage.transact(({ stateDocuments }) => stateDocuments.sweep(uploadsEndedBefore)))
  if (expired > 0) log.info("state-uploads-expired", { count: expired })
  if (givenUp > 0) log.info("states-given-up", { count: givenUp })
  if (configurationsGivenUp > 0) log.info("configurations-given-up", { count: configurationsGivenUp })
}

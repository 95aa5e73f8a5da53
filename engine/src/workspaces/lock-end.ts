// How a lock expires. A read after that instant, by the clock of its server as with leases, shows the workspace unlocked and writes
// nothing. The job `locks` writes what an expiry brings, within seconds: the event, and the state that becomes current. A write that
// finds an expired lock before the job does has that done first, in a transaction of its own, and begins again: it must not
// decide by a state that is about to be discarded. So all servers agree from the same instant on.
import { EngineError } from "../core/errors.ts"
import type { WorkspaceId } from "../core/ids.ts"
import type { Storage } from "../core/storage.ts"
import type { Clock, Instant } from "../core/time.ts"
import type { Stores } from "../stores.ts"
import { discardAndPromote } from "./state-settlement.ts"

type UsedStores = Pick<Stores, "events" | "workspaces" | "stateVersions">

/** Thrown by a store that finds, in a transaction that may write, locks whose time is over. Where it gets out, clients are asked to come again. */
export class LockRanOut extends EngineError {
  readonly workspaceIds: readonly WorkspaceId[]

  constructor(workspaceIds: readonly WorkspaceId[]) {
    super("busy", "Locks are running out faster than they can be ended. Please try again.", { retryAfterMs: 1_000 })
    this.workspaceIds = workspaceIds
  }
}

/** Each of them finds locks that ran out while the one before was at work. */
const attemptsMaximum = 10
const locksPerTransaction = 100

/** Ends the locks that a transaction of this storage comes upon, without acting for a caller. */
export function endingLocks<S extends UsedStores>(storage: Storage<S>, clock: Clock, ending: Storage<S>): Storage<S> {
  const endFound = async (found: LockRanOut): Promise<void> => {
    for (let first = 0; first < found.workspaceIds.length; first += locksPerTransaction) {
      const some = found.workspaceIds.slice(first, first + locksPerTransaction)
      await ending.transact(async (stores) => {
        for (const id of some) await endLock(stores, id, clock.now())
      })
    }
  }
  const retrying = async <T>(begin: () => Promise<T>, found: unknown): Promise<T> => {
    let last = found
    for (let attempt = 1; last instanceof LockRanOut && attempt < attemptsMaximum; attempt += 1) {
      await endFound(last)
      try {
        return await begin()
      } catch (error) {
        last = error
      }
    }
    throw last
  }
  return {
    read: (work) => storage.read(work),
    readElsewhere: (work) => storage.readElsewhere(work),
    transact: (work, options) =>
      storage.transact(work, options).catch((error: unknown) => retrying(() => storage.transact(work, options), error)),
  }
}

/** What an end without asking brings (architecture 0.17). False when the lock has been ended, or extended, meanwhile. */
export async function endLock(stores: UsedStores, id: WorkspaceId, now: Instant): Promise<boolean> {
  const workspace = await stores.workspaces.findRanOut(id, now)
  if (workspace === undefined) return false
  await discardAndPromote(stores, workspace)
  await stores.workspaces.saveLock(id, { lock: { held: false }, lockNumber: workspace.lockNumber })
  await stores.events.append({ kind: "workspace.lock-expired", workspace, changed: ["locked"] })
  return true
}

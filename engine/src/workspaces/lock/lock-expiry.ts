// How a lock expires. From that instant on, by the clock of its server as with leases, every read shows the workspace unlocked and
// writes nothing. A transaction that may write and finds an expired lock writes in the same transaction what the expiry brings: it
// must not decide by a state that is about to be discarded. The job `locks` does it for all others, within seconds: so that the
// event is told, and the state that was kept under the lock becomes current. So all servers agree from the same instant on.
import type { WorkspaceId } from "../../core/ids.ts"
import type { Held } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { type Instant, minuteMs, secondMs } from "../../core/time.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import { discardAndPromote } from "../state/state-version-rules.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"

interface UsedRepositories {
  readonly events: EventRepository
  readonly workspaces: WorkspaceRepository
  readonly stateVersions: StateVersionRepository
}

interface Context {
  readonly storage: Storage<UsedRepositories>
  readonly runtime: Pick<Runtime, "clock" | "log">
}

/** Writes what an expiry brings. Returns false if the lock was released or extended by another transaction. */
export async function expireLock(stores: UsedRepositories, id: WorkspaceId, now: Instant): Promise<boolean> {
  const workspace = await stores.workspaces.findExpired(id, now)
  if (workspace === undefined) return false
  await discardAndPromote(stores, workspace)
  await stores.workspaces.saveLock(id, { lock: { held: false }, lockNumber: workspace.lockNumber })
  await stores.events.append({ kind: "workspace.lock-expired", workspace, changed: ["locked"] })
  return true
}

/** The name of the job. */
export const expireLocksJob = { name: "locks", everyMs: 5 * secondMs, timeoutMs: minuteMs } as const

/** In one run of the job; the rest waits for the next. */
const locksMaximum = 1_000

/** Expires locks that no transaction has found. */
export async function expireLocks({ storage, runtime }: Context, { signal }: Pick<Held, "signal">): Promise<void> {
  const { clock, log } = runtime
  const ids = await storage.read(({ workspaces }) => workspaces.expiredLocks(clock.now(), locksMaximum))
  for (const id of ids) {
    signal.throwIfAborted()
    if (await storage.transact((stores) => expireLock(stores, id, clock.now())))
      log.info("lock-ran-out", { workspace: id })
  }
}

// Expiry of workspace locks (docs/decisions/lock-expiry.md). From the instant of expiry on, by the clock of the server, every read shows
// the workspace unlocked and writes nothing.
// A writing transaction that finds an expired lock applies the consequences itself: otherwise it would decide by a state version that is
// about to be discarded.
// For all other locks, the job `locks` applies them within seconds: it publishes the event and promotes the state version saved under the
// lock.
import type { WorkspaceId } from "../../core/ids.ts"
import type { HeldLease } from "../../core/leases.ts"
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

/** Applies the consequences of an expired lock. Returns false if another transaction released or extended the lock. */
export async function expireLock(repositories: UsedRepositories, id: WorkspaceId, now: Instant): Promise<boolean> {
  const workspace = await repositories.workspaces.findExpired(id, now)
  if (workspace === undefined) return false
  await discardAndPromote(repositories, workspace)
  await repositories.workspaces.saveLock(id, { lock: { held: false }, lockNumber: workspace.lockNumber })
  await repositories.events.append({ kind: "workspace.lock-expired", workspace, changed: ["locked"] })
  return true
}

export const expireLocksJob = { name: "locks", everyMs: 5 * secondMs, timeoutMs: minuteMs } as const

/** Limit of locks per run of the job. The next run continues. */
const maxLocks = 1_000

/** Expires locks that no writing transaction has expired yet. */
export async function expireLocks({ storage, runtime }: Context, { signal }: Pick<HeldLease, "signal">): Promise<void> {
  const { clock, log } = runtime
  const ids = await storage.read(({ workspaces }) => workspaces.expiredLocks(clock.now(), maxLocks))
  for (const id of ids) {
    signal.throwIfAborted()
    if (await storage.transact((repositories) => expireLock(repositories, id, clock.now())))
      log.info("lock-ran-out", { workspace: id })
  }
}

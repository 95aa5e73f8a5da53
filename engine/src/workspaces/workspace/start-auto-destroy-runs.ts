// Queues destroy runs of workspaces at their scheduled instant, or after a period without activity. The transaction that queues the run
// also records that it is done. So there is one run, also with several servers and after a restart.
import type { WorkspaceId } from "../../core/ids.ts"
import type { HeldLease } from "../../core/leases.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { type Instant, minuteMs } from "../../core/time.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import { type AutoDestroyStatus, effectiveAutoDestroy, lastActivity } from "./auto-destroy.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import { lifecycleSource } from "../runs/run.ts"
import { hasQueue, newRun, queueRun } from "../runs/run-queue.ts"
import type { RunRepository } from "../runs/run-repository.ts"
import type { WorkspaceRepository } from "./workspace-repository.ts"
import type { SituatedWorkspace } from "./workspace.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly events: EventRepository
  readonly runs: RunRepository
  readonly configurationVersions: ConfigurationVersionRepository
}

interface Context {
  readonly storage: Storage<UsedRepositories>
  readonly runtime: Pick<Runtime, "clock" | "log" | "random">
}

export const destroyWhenDueJob = { name: "auto-destroy", everyMs: minuteMs, timeoutMs: 5 * minuteMs } as const

const workspacesPerLook = 100
/** Limit of batches per run of the job. The next run continues. */
const maxLooks = 1_000

export async function destroyWhenDue(context: Context, { signal }: Pick<HeldLease, "signal">): Promise<void> {
  const { storage, runtime } = context
  let after = ""
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const last = after
    const due = await storage.read(({ workspaces }) =>
      workspaces.dueForDestruction(runtime.clock.now(), last, workspacesPerLook),
    )
    for (const id of due) {
      signal.throwIfAborted()
      await settle(context, id)
      after = id
    }
    if (due.length < workspacesPerLook) return
  }
}

async function settle({ storage, runtime }: Context, id: WorkspaceId): Promise<void> {
  const { clock, log, random } = runtime
  const made = newRun(random, clock.now())
  const status = await storage.transact(async (repositories) => {
    const workspace = await repositories.workspaces.find({ id })
    if (workspace === undefined || !isDue(workspace, made.now)) return undefined
    const outcome = obstacle(workspace)
    if (outcome === undefined) {
      const current = workspace.currentConfigurationVersionId
      const configuration = current === null ? undefined : await repositories.configurationVersions.find(current)
      await queueRun(repositories, workspace, destruction, configuration, made, {
        source: lifecycleSource,
        createdBy: null,
        message: "Queued because the auto-destroy time of the workspace has passed",
      })
    }
    await repositories.events.append({
      kind: "workspace.updated",
      workspace,
      changed: ["autoDestroyAt", "autoDestroyStatus"],
    })
    const activity = lastActivity(workspace)
    await repositories.workspaces.save(workspace, {
      ...workspace,
      autoDestroyAt: null,
      autoDestroyStatus: outcome ?? "queued",
      // The run that was just queued does not count as activity.
      autoDestroySettledAt: outcome === undefined ? Math.max(activity, made.now) : activity,
    })
    return outcome ?? "queued"
  })
  if (status === undefined) return
  const fields = { workspace: id, status }
  if (status === "queued") log.info("auto-destroy-queued", { ...fields, run: made.id })
  else log.warn("auto-destroy-skipped", fields)
}

const destruction = {
  message: null,
  isDestroy: true,
  autoApply: true,
  planOnly: false,
  refreshOnly: false,
  configurationVersionId: null,
}

function isDue(workspace: SituatedWorkspace, now: Instant): boolean {
  const { at } = effectiveAutoDestroy(workspace)
  return at !== null && at <= now
}

/** Returns why a destroy run cannot be queued, or undefined if it can. */
function obstacle(workspace: SituatedWorkspace): AutoDestroyStatus | undefined {
  if (!hasQueue(workspace)) return "skipped_local_execution"
  return workspace.allowDestroyPlan ? undefined : "skipped_destroy_not_allowed"
}

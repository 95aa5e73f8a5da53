import type { Caller } from "../core/caller.ts"
import { conflict, notFound, refuseFaults, unprocessable } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import type { Instant } from "../core/time.ts"
import type { Stores } from "../stores.ts"
import { type AuthorizedWorkspace, actorOf, authorizeWorkspace } from "./authorization.ts"
import type { ConfigurationVersion } from "./configuration-version.ts"
import { lock } from "./lock.ts"
import type { WorkspacePermission, WorkspacePermissions } from "./permissions.ts"
import type { Run, RunInput, RunStep, RunView } from "./run.ts"
import { measuredRunsMaximum, runMetrics } from "./run-metrics.ts"
import { advance, lockStep, messageFaults, runActor } from "./run-rules.ts"
import { isCancelable, isConfirmable, isDiscardable, isFinal, isMeasured, type RunStatus } from "./run-status.ts"
import type { RunQuery } from "./run-store.ts"
import type { Runs } from "./runs.ts"
import { discardAndPromote } from "./state-settlement.ts"
import type { SituatedWorkspace, WorkspaceRef } from "./workspace.ts"

type UsedStores = Pick<Stores, "workspaces" | "access" | "runs" | "configurationVersions" | "stateVersions">

export class RunService implements Runs {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  create(ref: WorkspaceRef, input: RunInput): Promise<RunView> {
    const { random, clock } = this.#runtime
    const ids = { id: newId("run", random), planId: newId("plan", random), applyId: newId("apply", random) }
    const now = clock.now()
    return this.#storage.transact(async (stores) => {
      const { workspace, permissions } = await authorizeWorkspace(stores, this.#caller, ref, "canQueueRun")
      refuseFaults(messageFaults(input.message ?? ""))
      if (input.isDestroy) requireDestroyable(workspace, permissions)
      const configuration = await configurationOf(stores, workspace, input)
      const run: Run = {
        ...ids,
        workspaceId: workspace.id,
        organizationId: workspace.organizationId,
        status: "pending",
        message: input.message ?? defaultMessage,
        source: "tfe-api",
        isDestroy: input.isDestroy,
        autoApply: input.autoApply ?? workspace.autoApply,
        planOnly: input.planOnly || configuration?.speculative === true,
        refreshOnly: input.refreshOnly,
        hasChanges: false,
        createdAt: now,
        createdBy: actorOf(this.#caller),
        statusTimestamps: { pending: now },
        configurationVersionId: configuration?.id ?? null,
        planDurationMs: null,
        applyDurationMs: null,
        policyFailed: false,
        finishedAt: null,
      }
      await stores.runs.insert(run)
      if (!run.planOnly) await stores.runs.makeCurrent(run)
      return viewRun(run, permissions)
    })
  }

  get(id: string): Promise<RunView> {
    return this.#read((stores) => stores.runs.find(id), id)
  }

  getByPlan(planId: string): Promise<RunView> {
    return this.#read((stores) => stores.runs.findByPlan(planId), planId)
  }

  getByApply(applyId: string): Promise<RunView> {
    return this.#read((stores) => stores.runs.findByApply(applyId), applyId)
  }

  list(ref: WorkspaceRef, query: RunQuery, page: PageRequest): Promise<Page<RunView>> {
    return this.#storage.read(async (stores) => {
      const { workspace, permissions } = await authorizeWorkspace(stores, this.#caller, ref, "canReadRun")
      return mapPage(await stores.runs.list(workspace.id, query, page), (run) => viewRun(run, permissions))
    })
  }

  apply(id: string): Promise<void> {
    return this.#act(id, { status: "confirmed", when: isConfirmable, refusal: "cannot be applied" })
  }

  discard(id: string): Promise<void> {
    return this.#act(id, { status: "discarded", when: isDiscardable, refusal: "cannot be discarded" })
  }

  cancel(id: string): Promise<void> {
    return this.#act(id, { status: "canceled", when: isCancelable, refusal: "cannot be canceled" })
  }

  forceCancel(id: string): Promise<void> {
    return this.#act(id, { status: "force_canceled", when: isCancelable, refusal: "cannot be canceled" })
  }

  advance(id: string, step: RunStep): Promise<RunView> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (stores) => {
      const { run, workspace, permissions } = await this.#authorized(stores, id, (run) =>
        run.planOnly ? "canQueueRun" : "canQueueApply",
      )
      return viewRun(await carryOut(stores, run, workspace, step, now), permissions)
    })
  }

  #read(find: (stores: UsedStores) => Promise<Run | undefined>, id: string): Promise<RunView> {
    return this.#storage.read(async (stores) => {
      const run = await find(stores)
      if (run === undefined) throw notFound(id)
      const { permissions } = await authorizeWorkspace(stores, this.#caller, { id: run.workspaceId }, "canReadRun")
      return viewRun(run, permissions)
    })
  }

  async #act(
    id: string,
    action: {
      readonly status: RunStatus
      readonly when: (status: RunStatus) => boolean
      readonly refusal: string
    },
  ): Promise<void> {
    const now = this.#runtime.clock.now()
    await this.#storage.transact(async (stores) => {
      const { run, workspace } = await this.#authorized(stores, id, () => "canQueueApply")
      if (!action.when(run.status))
        throw conflict(`The run is ${run.status} and ${action.refusal}.`, { subject: run.id })
      await carryOut(stores, run, workspace, { status: action.status, hasChanges: null }, now)
    })
  }

  async #authorized(
    stores: UsedStores,
    id: string,
    permission: (run: Run) => WorkspacePermission,
  ): Promise<AuthorizedWorkspace & { readonly run: Run }> {
    const run = await stores.runs.find(id)
    if (run === undefined) throw notFound(id)
    return { ...(await authorizeWorkspace(stores, this.#caller, { id: run.workspaceId }, permission(run))), run }
  }
}

/** The step and all that follows from it, in one transaction: lock, states, current configuration, metrics. */
async function carryOut(
  stores: UsedStores,
  before: Run,
  workspace: SituatedWorkspace,
  step: RunStep,
  now: Instant,
): Promise<Run> {
  const run = advance(before, step, now)
  await stores.runs.save(run)
  switch (lockStep(before, run, workspace)) {
    case "take":
      await stores.workspaces.saveLock(workspace.id, lock(workspace, runActor(run), lockReason, now))
      break
    case "release":
      await stores.workspaces.saveLock(workspace.id, { lock: { held: false }, lockNumber: workspace.lockNumber })
      await discardAndPromote(stores, workspace)
      break
    case "keep":
      break
  }
  if (isFinal(run.status)) await recordEnd(stores, run)
  return run
}

async function recordEnd(stores: UsedStores, run: Run): Promise<void> {
  // Read again: the states of the lock that has just ended may have changed it.
  const workspace = await stores.workspaces.find({ id: run.workspaceId })
  if (workspace === undefined) return
  const metrics = isMeasured(run.status)
    ? runMetrics(await stores.runs.measured(run.workspaceId, measuredRunsMaximum))
    : workspace.metrics
  const configuration =
    run.status === "applied" && run.configurationVersionId !== null
      ? await stores.configurationVersions.find(run.configurationVersionId)
      : undefined
  await stores.workspaces.save(workspace, {
    ...workspace,
    metrics,
    // A provisional configuration counts once it has been applied.
    ...(configuration?.provisional === true ? { currentConfigurationVersionId: configuration.id } : {}),
  })
}

export function viewRun(run: Run, permissions: WorkspacePermissions): RunView {
  const { organizationId: _organizationId, policyFailed: _policyFailed, finishedAt: _finishedAt, ...shown } = run
  const { planDurationMs: _planMs, applyDurationMs: _applyMs, ...view } = shown
  const { canQueueApply } = permissions
  return {
    ...view,
    permissions: {
      canApply: canQueueApply,
      canCancel: canQueueApply,
      canDiscard: canQueueApply,
      canForceCancel: canQueueApply,
    },
  }
}

const defaultMessage = "Queued manually via the API"
const lockReason = "Locked by a run"

function requireDestroyable(workspace: SituatedWorkspace, permissions: WorkspacePermissions): void {
  if (!permissions.canQueueDestroy) throw notFound(workspace.id)
  if (!workspace.allowDestroyPlan)
    throw unprocessable("Destroy plans are not allowed in this workspace.", [
      { field: ["isDestroy"], detail: "Destroy plans are not allowed in this workspace" },
    ])
}

async function configurationOf(
  { configurationVersions }: Pick<UsedStores, "configurationVersions">,
  workspace: SituatedWorkspace,
  { configurationVersionId }: RunInput,
): Promise<ConfigurationVersion | undefined> {
  if (configurationVersionId === null) {
    const current = workspace.currentConfigurationVersionId
    return current === null ? undefined : configurationVersions.find(current)
  }
  const configuration = await configurationVersions.find(configurationVersionId)
  const field = ["configurationVersion", "id"]
  if (configuration?.workspaceId !== workspace.id)
    throw unprocessable("The configuration version does not belong to this workspace.", [
      { field, detail: "configuration-version must be one of this workspace" },
    ])
  if (configuration.status === "archived")
    throw unprocessable("The configuration version is archived.", [
      { field, detail: "configuration-version is archived" },
    ])
  return configuration
}

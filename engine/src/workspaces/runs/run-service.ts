import type { Caller } from "../../core/caller.ts"
import { conflict, forbidden, notFound, rejectFaults, unprocessable } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import { mapPage, offsetOf, type Page, type PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { Instant } from "../../core/time.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import { authorizeOrganization } from "../../organizations/authorization.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import {
  type AuthorizedWorkspace,
  actorOf,
  authorizeWorkspace,
  visibilityIn,
  withPermissions,
} from "../access/workspace-authorization.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import type { ConfigurationVersion } from "../configuration-versions/configuration-version.ts"
import { describe } from "../lock/lock.ts"
import { noPermissions, type WorkspacePermission, type WorkspacePermissions } from "../access/workspace-permissions.ts"
import type { Visibility } from "../workspace/workspace-query.ts"
import type { Run, RunCapacity, RunComment, RunEvent, RunInput, RunStep, RunView } from "./run.ts"
import { isExecuting, requireForceCancel } from "./run-claim.ts"
import { recordExecutor, requireExecutor } from "./executors.ts"
import type { ExecutorRepository } from "./executor-repository.ts"
import { recordRunEvent, type StepOrigin } from "./run-event.ts"
import { carryOut, runChange } from "./run-progress.ts"
import { newRun, queueRun, requireQueue } from "./run-queue.ts"
import { assertTakesComment, commentFaults, countFaults, runInputFaults } from "./run-rules.ts"
import type {
  OrganizationRunQuery,
  RunArchive,
  RunDocument,
  RunQuery,
  RunRecordRepository,
  RunRepository,
} from "./run-repository.ts"
import {
  hasEnded,
  isCancelable,
  isConfirmable,
  isDiscardable,
  isForceCancelable,
  isUntouched,
  planStatus,
  type RunStatus,
} from "./run-status.ts"
import type { Runs } from "./run-api.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { SituatedWorkspace, WorkspaceRef } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly events: EventRepository
  readonly executors: ExecutorRepository
  readonly organizations: OrganizationRepository
  readonly runs: RunRepository
  readonly runRecords: RunRecordRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly stateVersions: StateVersionRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
}

export class RunService implements Runs {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #archive: RunArchive
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, archive: RunArchive, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#archive = archive
    this.#caller = caller
  }

  create(ref: WorkspaceRef, input: RunInput): Promise<RunView> {
    const { random, clock } = this.#runtime
    const made = newRun(random, clock.now())
    return this.#storage.transact(async (repositories) => {
      const { workspace, permissions } = await authorizeWorkspace(repositories, this.#caller, ref, "canQueueRun")
      rejectFaults(runInputFaults(input))
      if (input.isDestroy) requireDestroyable(workspace, permissions)
      requireQueue(workspace)
      await requireExecutor(repositories, workspace, made.now)
      const configuration = await configurationOf(repositories, workspace, input)
      const run = await queueRun(repositories, workspace, input, configuration, made, {
        source: "tfe-api",
        createdBy: actorOf(this.#caller),
        message: defaultMessage,
      })
      return viewRun(run, permissions)
    })
  }

  get(id: string): Promise<RunView> {
    return this.#read((repositories) => repositories.runs.find(id), id)
  }

  getByPlan(planId: string): Promise<RunView> {
    return this.#read((repositories) => repositories.runs.findByPlan(planId), planId)
  }

  getByApply(applyId: string): Promise<RunView> {
    return this.#read((repositories) => repositories.runs.findByApply(applyId), applyId)
  }

  planJson(planId: string): Promise<Uint8Array | undefined> {
    // `canUpdate` alone would admit the organization's token, which may not queue runs.
    return this.#planDocument(planId, "json-output", "canUpdate", "canQueueApply")
  }

  redactedPlanJson(planId: string): Promise<Uint8Array | undefined> {
    return this.#planDocument(planId, "json-output-redacted", "canReadRun")
  }

  async #planDocument(
    planId: string,
    document: RunDocument,
    ...needed: readonly WorkspacePermission[]
  ): Promise<Uint8Array | undefined> {
    const { run, chunks } = await this.#storage.read(async (repositories) => {
      const run = await repositories.runs.findByPlan(planId)
      if (run === undefined) throw notFound(planId)
      await authorizeWorkspace(repositories, this.#caller, { id: run.workspaceId }, ...needed)
      return { run, chunks: await repositories.runRecords.document(run.id, document) }
    })
    if (!hasEnded(planStatus(run.status, run.statusTimestamps))) return undefined
    if (chunks.length === 0) throw notFound(planId)
    return this.#archive.unpack(run.id, document, chunks)
  }

  list(ref: WorkspaceRef, query: RunQuery, page: PageRequest): Promise<Page<RunView>> {
    return this.#storage.readReplica(async (repositories) => {
      const { workspace, permissions } = await authorizeWorkspace(repositories, this.#caller, ref, "canReadRun")
      return mapPage(await repositories.runs.list(workspace.id, query, page), (run) => viewRun(run, permissions))
    })
  }

  listForOrganization(organization: string, query: OrganizationRunQuery, page: PageRequest): Promise<Page<RunView>> {
    return this.#storage.readReplica(async (repositories) => {
      const visibility = await this.#visibility(repositories, organization)
      return this.#viewed(repositories, await repositories.runs.listVisible(visibility, query, page))
    })
  }

  queue(organization: string, page: PageRequest): Promise<Page<RunView>> {
    return this.#storage.read(async (repositories) => {
      const visibility = await this.#visibility(repositories, organization)
      const queue = await this.#viewed(repositories, await repositories.runs.queue(visibility, page))
      const before = offsetOf(page)
      return { ...queue, items: queue.items.map((run, index) => ({ ...run, positionInQueue: before + index })) }
    })
  }

  capacity(organization: string): Promise<RunCapacity> {
    return this.#storage.read(async (repositories) =>
      repositories.runs.capacity(await this.#visibility(repositories, organization)),
    )
  }

  apply(id: string, comment?: string): Promise<void> {
    return this.#act(id, { status: "confirmed", when: isConfirmable, refusal: "cannot be applied", comment })
  }

  discard(id: string, comment?: string): Promise<void> {
    return this.#act(id, { status: "discarded", when: isDiscardable, refusal: "cannot be discarded", comment })
  }

  cancel(id: string, comment?: string): Promise<void> {
    return this.#act(id, {
      comment,
      status: "canceled",
      when: isCancelable,
      refusal: "cannot be canceled",
      async instead(repositories, run, workspace, origin) {
        if (!isExecuting(run, origin.now)) return false
        if (run.cancelRequestedAt !== null) throw conflict("The run is already being canceled.", { subject: run.id })
        await requestCancel(repositories, run, workspace, origin)
        return true
      },
    })
  }

  forceCancel(id: string, comment?: string): Promise<void> {
    return this.#act(id, {
      comment,
      status: "force_canceled",
      when: isForceCancelable,
      refusal: "cannot be canceled",
      async instead(_stores, run, _workspace, { now }) {
        requireForceCancel(run, now)
        return false
      },
    })
  }

  forceExecute(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { run, workspace } = await this.#authorized(repositories, id, () => "canQueueApply")
      if (run.status !== "pending")
        throw forbidden(`The run is ${run.status}; only a pending run can be forced to execute.`)
      const { lock } = workspace
      if (lock.held && lock.by.kind !== "runs")
        throw conflict(`The run has to wait. The workspace is locked by ${describe(lock.by)}.`, {
          subject: workspace.id,
        })
      const earlier = await repositories.runs.before(run)
      const holder = lock.held ? await repositories.runs.find(lock.by.id) : undefined
      if (holder === undefined && earlier.length === 0) throw forbidden("The run is not waiting for another run.")
      const origin = this.#origin()
      const forOther = { ...origin, description: `The run ${run.id} was forced to execute.` }
      let ended = 0
      // Pending runs do not change the lock, so `workspace` is still current when the lock's holder is ended.
      for (const other of [...earlier, ...(holder === undefined ? [] : [holder])])
        if (await endForAnother(repositories, other, workspace, forOther)) ended += 1
      // A repeated request finds nothing to end, and is not recorded.
      if (ended > 0)
        await repositories.runs.save(await recordRunEvent(repositories, run, { action: "force_executed" }, origin))
    })
  }

  addComment(id: string, body: string): Promise<RunComment> {
    return this.#storage.transact(async (repositories) => {
      const { run, workspace } = await this.#authorized(repositories, id, () => "canQueueRun")
      const { run: commented, comment } = await this.#withComment(repositories, run, body)
      await repositories.runs.save(commented)
      await repositories.events.append(runChange("run.updated", workspace, commented, ["comments"]))
      return comment
    })
  }

  comments(id: string, page: PageRequest): Promise<Page<RunComment>> {
    return this.#storage.read(async (repositories) => {
      const { run } = await this.#authorized(repositories, id, () => "canReadRun")
      return repositories.runs.comments(run.id, page)
    })
  }

  comment(id: string): Promise<RunComment> {
    return this.#storage.read(async (repositories) => {
      const comment = await repositories.runs.findComment(id)
      if (comment === undefined) throw notFound(id)
      await this.#authorized(repositories, comment.runId, () => "canReadRun")
      return comment
    })
  }

  events(id: string): Promise<readonly RunEvent[]> {
    return this.#storage.read(async (repositories) => {
      const { run } = await this.#authorized(repositories, id, () => "canReadRun")
      return repositories.runs.events(run.id)
    })
  }

  event(id: string): Promise<RunEvent> {
    return this.#storage.read(async (repositories) => {
      const event = await repositories.runs.findEvent(id)
      if (event === undefined) throw notFound(id)
      await this.#authorized(repositories, event.runId, () => "canReadRun")
      return event
    })
  }

  advance(id: string, step: RunStep): Promise<RunView> {
    return this.#storage.transact(async (repositories) => {
      const { run, workspace, permissions } = await this.#authorized(repositories, id, (run) =>
        run.planOnly ? "canQueueRun" : "canQueueApply",
      )
      rejectFaults(countFaults(step.counts))
      const origin = this.#origin()
      requireUnclaimed(run, origin.now)
      await recordExecutor(repositories, { organizationId: run.organizationId }, origin.now)
      const confirmed = this.#confirmed(run, step.status)
      return viewRun(await carryOut(repositories, confirmed, workspace, step, origin), permissions)
    })
  }

  async #visibility(repositories: UsedRepositories, organization: string): Promise<Visibility> {
    const { organization: found } = await authorizeOrganization(repositories, this.#caller, organization)
    const visibility = visibilityIn(this.#caller, found.id)
    if (visibility === undefined) throw notFound(organization)
    return visibility
  }

  /** Adds to each run the permissions of the caller. */
  async #viewed(repositories: UsedRepositories, runs: Page<Run>): Promise<Page<RunView>> {
    const workspaces = await repositories.workspaces.findMany([...new Set(runs.items.map((run) => run.workspaceId))])
    const authorized = await withPermissions(repositories, this.#caller, workspaces)
    const permissionsOf = new Map(authorized.map(({ workspace, permissions }) => [workspace.id, permissions]))
    return mapPage(runs, (run) => viewRun(run, permissionsOf.get(run.workspaceId) ?? noPermissions))
  }

  #read(find: (repositories: UsedRepositories) => Promise<Run | undefined>, id: string): Promise<RunView> {
    return this.#storage.read(async (repositories) => {
      const run = await find(repositories)
      if (run === undefined) throw notFound(id)
      const { permissions } = await authorizeWorkspace(
        repositories,
        this.#caller,
        { id: run.workspaceId },
        "canReadRun",
      )
      return viewRun(run, permissions)
    })
  }

  async #act(
    id: string,
    action: {
      readonly status: RunStatus
      readonly when: (status: RunStatus) => boolean
      readonly refusal: string
      readonly comment: string | undefined
      /** Runs before the change of status, and can replace it: returns true if it did. */
      readonly instead?: (
        repositories: UsedRepositories,
        run: Run,
        workspace: SituatedWorkspace,
        origin: StepOrigin,
      ) => Promise<boolean>
    },
  ): Promise<void> {
    await this.#storage.transact(async (repositories) => {
      const { run: found, workspace } = await this.#authorized(repositories, id, () => "canQueueApply")
      if (!action.when(found.status))
        throw conflict(`The run is ${found.status} and ${action.refusal}.`, { subject: found.id })
      const { comment = "" } = action
      // Clients send an empty comment for none.
      const run = comment === "" ? found : (await this.#withComment(repositories, found, comment)).run
      const origin = this.#origin()
      if ((await action.instead?.(repositories, run, workspace, origin)) === true) return
      const step = { status: action.status, hasChanges: null }
      await carryOut(repositories, this.#confirmed(run, action.status), workspace, step, origin)
    })
  }

  /** Returns the present time and the caller, for a step that the caller takes. */
  #origin(): StepOrigin {
    const { clock, random } = this.#runtime
    return { now: clock.now(), random, actor: actorOf(this.#caller) }
  }

  /** Stores a comment and its event. The caller must save the returned run, which contains the ids of both. */
  async #withComment(
    repositories: UsedRepositories,
    run: Run,
    body: string,
  ): Promise<{ readonly run: Run; readonly comment: RunComment }> {
    rejectFaults(commentFaults(body))
    assertTakesComment(run)
    const origin = this.#origin()
    const { now, random, actor: createdBy } = origin
    const comment = { id: newId("wsc", random), runId: run.id, body, createdAt: now, createdBy }
    await repositories.runs.insertComment(comment)
    const commented = { ...run, commentIds: [...run.commentIds, comment.id] }
    const event = { action: "commented", commentId: comment.id } as const
    return { run: await recordRunEvent(repositories, commented, event, origin), comment }
  }

  /** Records the caller as the one who confirmed the run, if the step confirms it. */
  #confirmed(run: Run, status: RunStatus): Run {
    return status === "confirmed" ? { ...run, confirmedBy: actorOf(this.#caller) } : run
  }

  async #authorized(
    repositories: UsedRepositories,
    id: string,
    permission: (run: Run) => WorkspacePermission,
  ): Promise<AuthorizedWorkspace & { readonly run: Run }> {
    const run = await repositories.runs.find(id)
    if (run === undefined) throw notFound(id)
    return { ...(await authorizeWorkspace(repositories, this.#caller, { id: run.workspaceId }, permission(run))), run }
  }
}

export function viewRun(run: Run, permissions: WorkspacePermissions): RunView {
  const { organizationId: _organizationId, policyFailed: _policyFailed, finishedAt: _finishedAt, ...shown } = run
  const { planDurationMs: _planMs, applyDurationMs: _applyMs, waitRecordedAt: _recorded, claim, ...view } = shown
  const { canQueueApply, canReadVariable } = permissions
  const { statusTimestamps: reached } = run
  return {
    ...view,
    variables: canReadVariable ? view.variables : [],
    // A server of an earlier release keeps the reason when it stores a claim or a step.
    waitingReason: claim === null && isUntouched(run.status) ? run.waitingReason : null,
    cancelRequestedAt: run.cancelRequestedAt ?? reached.canceled ?? reached.force_canceled ?? null,
    executor: claim === null || run.finishedAt !== null ? null : { name: claim.name, expiresAt: claim.expiresAt },
    permissions: {
      canApply: canQueueApply,
      canCancel: canQueueApply,
      canDiscard: canQueueApply,
      canForceCancel: canQueueApply,
      canForceExecute: canQueueApply,
    },
  }
}

async function requestCancel(
  repositories: UsedRepositories,
  run: Run,
  workspace: SituatedWorkspace,
  origin: StepOrigin,
): Promise<void> {
  const canceling = { ...run, cancelRequestedAt: origin.now }
  await repositories.runs.save(await recordRunEvent(repositories, canceling, { action: "cancel_requested" }, origin))
  await repositories.events.append(runChange("run.updated", workspace, run, ["canceled-at"]))
}

/**
 * Discards a waiting run, and cancels one that is being executed. A live executor has to stop first. Returns false if there was nothing to
 * do.
 */
async function endForAnother(
  repositories: UsedRepositories,
  run: Run,
  workspace: SituatedWorkspace,
  origin: StepOrigin,
): Promise<boolean> {
  if (isDiscardable(run.status)) {
    await carryOut(repositories, run, workspace, { status: "discarded", hasChanges: null }, origin)
    return true
  }
  if (run.cancelRequestedAt !== null || !isCancelable(run.status)) return false
  if (isExecuting(run, origin.now)) await requestCancel(repositories, run, workspace, origin)
  else await carryOut(repositories, run, workspace, { status: "canceled", hasChanges: null }, origin)
  return true
}

const defaultMessage = "Queued manually via the API"

/** Throws `conflict` if a live executor has claimed the run. Only that executor may report on it. */
function requireUnclaimed({ id, claim }: Run, now: Instant): void {
  if (claim !== null && claim.expiresAt > now)
    throw conflict(`The run is claimed by the executor "${claim.name}"; only that executor can report on it.`, {
      subject: id,
    })
}

function requireDestroyable(workspace: SituatedWorkspace, permissions: WorkspacePermissions): void {
  if (!permissions.canQueueDestroy) throw notFound(workspace.id)
  if (!workspace.allowDestroyPlan)
    throw unprocessable("Destroy plans are not allowed in this workspace.", [
      { field: ["isDestroy"], detail: "Destroy plans are not allowed in this workspace" },
    ])
}

async function configurationOf(
  { configurationVersions }: Pick<UsedRepositories, "configurationVersions">,
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
      { field, detail: "configuration-version must belong to this workspace" },
    ])
  if (configuration.status === "archived")
    throw unprocessable("The configuration version is archived.", [
      { field, detail: "configuration-version is archived" },
    ])
  if (configuration.status.startsWith("backing_data_"))
    throw unprocessable("The data of the configuration version was deleted.", [
      { field, detail: "configuration-version has no data; its data was deleted" },
    ])
  return configuration
}

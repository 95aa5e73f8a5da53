import type { Caller } from "../../core/caller.ts"
import { conflict, notFound, rejectFaults } from "../../core/errors.ts"
import { newId } from "../../core/ids.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import type { Instant } from "../../core/time.ts"
import type { Timers } from "../../core/timers.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import { authorizeOrganization } from "../../organizations/authorization.ts"
import { type ClaimToken, newClaimToken } from "../../organizations/claim-token.ts"
import { type OrganizationRepository, permissionsIn } from "../../organizations/organization.ts"
import type { SshKeyStore } from "../../organizations/ssh-key.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import type { AgentPoolRepository } from "./agent-pool-repository.ts"
import { actorOf, authorizeWorkspace, visibilityIn, withPermissions } from "../access/workspace-authorization.ts"
import type { ConfigurationArchive } from "../configuration-versions/configuration-version.ts"
import type { ConfigurationVersionRepository } from "../configuration-versions/configuration-version-repository.ts"
import { noPermissions, type WorkspacePermission } from "../access/workspace-permissions.ts"
import type { Run, RunClaim, RunExecutor, RunStep } from "./run.ts"
import {
  canBeReleased,
  claimFaults,
  type ClaimInput,
  type ClaimTarget,
  type ExecutionVariable,
  newPart,
  renewed,
  requireDocument,
  requireLive,
  requireLogChunk,
  requireUnended,
  type RunClaims,
  type RunClaimView,
} from "./run-claim.ts"
import type { StepOrigin } from "./run-event.ts"
import { carryOut } from "./run-progress.ts"
import type {
  ClaimScope,
  RunArchive,
  RunDocument,
  RunRecordRepository,
  RunRepository,
  RunStage,
} from "./run-repository.ts"
import { countFaults, noWait, runActor } from "./run-rules.ts"
import { viewRun } from "./run-service.ts"
import { claimedStatus, isFinal } from "./run-status.ts"
import type { StateDocumentRepository } from "../state/state-document-repository.ts"
import { automaticVariables } from "./automatic-variables.ts"
import type { ExecutorGroup, ExecutorRepository } from "./executor-repository.ts"
import { groupOfClaim, isDue, recordExecutor } from "./executors.ts"
import { openStateDocument } from "../state/state-document.ts"
import type { StateVersionInput, StateVersionView } from "../state/state-version.ts"
import { createStateVersion, type StateTools } from "../state/state-version-service.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import type { VariableRepository } from "../variables/variable.ts"
import type { WorkspaceResourceRepository } from "../state/workspace-resource.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import { configuredExecution, type SituatedWorkspace, type WorkspaceRef } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly agentPools: AgentPoolRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly events: EventRepository
  readonly executors: ExecutorRepository
  readonly organizations: OrganizationRepository
  readonly runRecords: RunRecordRepository
  readonly runs: RunRepository
  readonly sshKeys: SshKeyStore
  readonly stateDocuments: StateDocumentRepository
  readonly stateVersions: StateVersionRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
  readonly variables: VariableRepository
  readonly workspaceResources: WorkspaceResourceRepository
  readonly workspaces: WorkspaceRepository
}

/** Repositories that are needed to check who holds a claim. */
type ClaimRepositories = Pick<UsedRepositories, "access" | "agentPools" | "runs" | "workspaces">

export interface ClaimTools {
  readonly archive: RunArchive
  readonly configurations: ConfigurationArchive
  readonly states: StateTools
  readonly timers: Timers
}

/** Interval at which a waiting request checks for a claimable run. Runs can be queued by any server. */
const lookMs = 500
/** Limit of waiting runs to check, the longest waiting first. Runs that the caller may not execute are skipped. */
const maxCandidates = 200

export class RunClaimService implements RunClaims {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #tools: ClaimTools
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, tools: ClaimTools, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    // A claim writes the row of the run, so only one of several executors gets it.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#tools = tools
    this.#caller = caller
  }

  async claim(target: ClaimTarget, input: ClaimInput): Promise<RunClaimView | undefined> {
    const scope = await this.#storage.read((repositories) => this.#scope(repositories, target))
    rejectFaults(claimFaults(input))
    await this.#recordExecutor(groupOf(scope))
    for (let waitedMs = 0; ; waitedMs += lookMs) {
      const waits = await this.#storage.read((repositories) => this.#next(repositories, scope))
      // The transaction searches again: if several executors see the same run, one of them gets it.
      const claimed = waits && (await this.#take(target, input))
      if (claimed !== undefined || waitedMs >= input.waitMs) return claimed
      await this.#pause(Math.min(lookMs, input.waitMs - waitedMs))
    }
  }

  get(id: string): Promise<RunClaimView> {
    return this.#storage.read(async (repositories) => {
      const { run, workspace } = await this.#claimed(repositories, id)
      return viewClaim(run, workspace)
    })
  }

  async heartbeat(id: string): Promise<RunClaimView> {
    await this.#recordClaimant(id)
    return this.#alive(id, async (_stores, { run, workspace }) => viewClaim(run, workspace))
  }

  async report(id: string, step: RunStep): Promise<RunClaimView> {
    await this.#recordClaimant(id)
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { run, claim, workspace } = await this.#claimed(repositories, id)
      rejectFaults(countFaults(step.counts))
      if (wasReported(run, step)) return viewClaim(run, workspace)
      requireLive(run, claim, now)
      const renewedRun = renewed(run, claim, now)
      const origin = this.#origin(now, `Reported by the executor "${claim.name}".`)
      const after = await carryOut(repositories, renewedRun, workspace, step, origin)
      // The step may have ended the claim. The response still contains it.
      return viewClaim(after, workspace, renewedRun.claim)
    })
  }

  async createToken(id: string): Promise<ClaimToken> {
    const caller = this.#caller
    if (caller.kind !== "agent" || caller.claimId !== undefined) throw notFound(id)
    await this.#storage.read((repositories) => this.#working(repositories, id))
    const { states } = this.#tools
    return newClaimToken(states.signer, { claimId: id, tokenId: caller.tokenId }, this.#runtime.clock.now())
  }

  release(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { run } = await this.#claimed(repositories, id)
      if (isFinal(run.status)) return
      if (!canBeReleased(run))
        throw conflict(`The run is ${run.status} and cannot be released; report its result.`, { subject: run.id })
      await repositories.runs.save({ ...run, claim: null })
    })
  }

  appendLog(id: string, stage: RunStage, offset: number, bytes: Uint8Array): Promise<number> {
    return this.#alive(id, async ({ runRecords }, { run }) => {
      requireLogChunk(offset, bytes)
      const size = await runRecords.logSize(run.id, stage)
      const added = newPart(bytes, offset, size)
      const known = bytes.subarray(0, bytes.length - added.length)
      if (!Buffer.from(known).equals(await runRecords.readLog(run.id, stage, offset, known.length)))
        throw conflict(`The log has different content at offset ${offset}.`, { subject: run.id })
      if (added.length === 0) return size
      requireUnended(run, stage)
      await runRecords.appendLog(run.id, stage, added)
      return size + added.length
    })
  }

  async saveDocument(id: string, document: RunDocument, bytes: Uint8Array): Promise<void> {
    const { run } = await this.#storage.read((repositories) => this.#claimed(repositories, id))
    requireDocument(document, bytes)
    const chunks = this.#tools.archive.pack(run.id, document, bytes)
    await this.#alive(id, async ({ runRecords }, { run: present }) => {
      // The plan that was confirmed must be the one that is applied.
      requireUnended(present, "plan")
      await runRecords.saveDocument(present.id, document, chunks)
    })
  }

  async document(id: string, document: RunDocument): Promise<Uint8Array> {
    const { runId, chunks } = await this.#storage.read(async (repositories) => {
      const { run } = await this.#claimed(repositories, id)
      return { runId: run.id, chunks: await repositories.runRecords.document(run.id, document) }
    })
    if (chunks.length === 0) throw notFound(runId)
    return this.#tools.archive.unpack(runId, document, chunks)
  }

  variables(id: string): Promise<readonly ExecutionVariable[]> {
    return this.#storage.read(async (repositories) => {
      const { run, workspace } = await this.#working(repositories, id)
      const variables = await repositories.variables.list(run.workspaceId)
      const { configurationVersionId: versionId } = run
      const configuration = versionId === null ? undefined : await repositories.configurationVersions.find(versionId)
      const automatic = automaticVariables({
        runId: run.id,
        workspaceName: workspace.name,
        organizationName: workspace.organization.name,
        projectName: workspace.project.name,
        ingress: configuration?.ingress?.attributes ?? null,
      })
      const own = variables.map(({ key, value, category, hcl, sensitive }) => ({
        key,
        value,
        category,
        hcl,
        sensitive,
      }))
      const ownNames = new Set(own.filter(({ category }) => category === "env").map(({ key }) => key))
      return [...automatic.filter(({ key }) => !ownNames.has(key)), ...own]
    })
  }

  async configuration(id: string): Promise<Uint8Array> {
    const { version, chunks } = await this.#storage.read(async (repositories) => {
      const { run } = await this.#working(repositories, id)
      const { configurationVersionId: versionId } = run
      const version = versionId === null ? undefined : await repositories.configurationVersions.find(versionId)
      if (version?.status !== "uploaded") throw notFound(run.id)
      return { version, chunks: await repositories.configurationVersions.content(version.id) }
    })
    return this.#tools.configurations.unpack(version.id, chunks)
  }

  sshKey(id: string): Promise<string> {
    return this.#storage.read(async (repositories) => {
      const { run, workspace } = await this.#working(repositories, id)
      const value = workspace.sshKeyId === null ? undefined : await repositories.sshKeys.value(workspace.sshKeyId)
      if (value === undefined) throw notFound(run.id)
      return value
    })
  }

  async state(id: string): Promise<AsyncIterable<Uint8Array>> {
    const { currentStateVersionId: versionId } = await this.#storage.read(
      async (repositories) => (await this.#working(repositories, id)).workspace,
    )
    if (versionId === null) throw notFound(id)
    return openStateDocument(this.#storage, this.#tools.states.archive, versionId, "state")
  }

  async createState(id: string, input: StateVersionInput): Promise<StateVersionView> {
    const { run } = await this.#storage.read((repositories) => this.#working(repositories, id))
    return createStateVersion(
      this.#storage,
      this.#runtime,
      this.#tools.states,
      { ...input, runId: run.id },
      async (repositories) => {
        const { run: present, workspace } = await this.#working(repositories, id)
        if (present.status !== "applying")
          throw conflict(`The run is ${present.status}; only an applying run can create state versions.`, {
            subject: run.id,
          })
        return { workspace, by: this.#caller.kind === "agent" ? runActor(present) : actorOf(this.#caller) }
      },
    )
  }

  /** Throws unless the claim is live and the run is unfinished. Secrets are only returned to the executor of such a run. */
  async #working(repositories: ClaimRepositories, id: string): Promise<Claimed> {
    const claimed = await this.#claimed(repositories, id)
    const { run, claim } = claimed
    requireLive(run, claim, this.#runtime.clock.now())
    if (isFinal(run.status)) throw conflict(`The run is ${run.status}.`, { subject: run.id })
    return claimed
  }

  /** Returns the scope of the search for a run. Throws if the caller may not claim runs of the target. */
  async #scope(repositories: UsedRepositories, target: ClaimTarget): Promise<ClaimScope> {
    const caller = this.#caller
    if (caller.kind === "agent" && caller.claimId !== undefined) throw notFound()
    switch (target.kind) {
      case "organization": {
        const { organization } = await authorizeOrganization(repositories, caller, target.name)
        executorOf(caller)
        const visibility = visibilityIn(caller, organization.id)
        if (visibility === undefined) throw notFound(target.name)
        return { organizationId: organization.id, visibility }
      }
      case "workspace":
        return this.#scopeOf(repositories, target.ref)
      case "agent-pool":
        return this.#scopeOfPool(repositories, target.id)
      case "own-pool":
        if (caller.kind !== "agent") throw notFound()
        return this.#scopeOfPool(repositories, caller.agentPoolId)
      default:
        return target satisfies never
    }
  }

  /**
   * Callers that manage agent pools could create an agent token for themselves. So they may claim, without one, the runs of the pool that
   * they may apply.
   */
  async #scopeOfPool({ agentPools }: UsedRepositories, id: string): Promise<ClaimScope> {
    const caller = this.#caller
    const pool = await agentPools.find(id)
    if (pool === undefined) throw notFound(id)
    const scope = { organizationId: pool.organizationId, agentPoolId: id }
    if (caller.kind === "agent") {
      if (caller.agentPoolId !== id) throw notFound(id)
      return scope
    }
    const visibility = visibilityIn(caller, pool.organizationId)
    if (!permissionsIn(caller, pool.organizationId)?.canUpdateAgentPools || visibility === undefined) throw notFound(id)
    executorOf(caller)
    return { ...scope, visibility }
  }

  async #scopeOf(repositories: UsedRepositories, ref: WorkspaceRef): Promise<ClaimScope> {
    const caller = this.#caller
    if (caller.kind === "agent") {
      const workspace = await repositories.workspaces.find(ref)
      if (workspace === undefined || !(await executes(repositories, caller.agentPoolId, workspace))) throw notFound()
      const { id, organizationId } = workspace
      return { organizationId, workspaceId: id, agentPoolId: caller.agentPoolId }
    }
    const { workspace } = await authorizeWorkspace(repositories, caller, ref, "canQueueRun")
    const { mode } = configuredExecution(workspace)
    if (mode !== "remote")
      throw conflict(`The execution mode of the workspace is ${mode}; runs can only be claimed when it is remote.`, {
        subject: workspace.id,
      })
    executorOf(caller)
    return { organizationId: workspace.organizationId, workspaceId: workspace.id }
  }

  async #next(repositories: UsedRepositories, scope: ClaimScope): Promise<Run | undefined> {
    const waiting = await repositories.runs.claimable(scope, this.#runtime.clock.now(), maxCandidates)
    if (scope.visibility === undefined && scope.agentPoolId !== undefined) return waiting[0]
    const workspaces = await repositories.workspaces.findMany([...new Set(waiting.map((run) => run.workspaceId))])
    const authorized = await withPermissions(repositories, this.#caller, workspaces)
    const permissionsOf = new Map(authorized.map(({ workspace, permissions }) => [workspace.id, permissions]))
    return waiting.find((run) => permissionsOf.get(run.workspaceId)?.[neededFor(run)] === true)
  }

  #take(target: ClaimTarget, { name, leaseMs }: ClaimInput): Promise<RunClaimView | undefined> {
    const id = newId("claim", this.#runtime.random)
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const run = await this.#next(repositories, await this.#scope(repositories, target))
      const workspace = run && (await repositories.workspaces.find({ id: run.workspaceId }))
      if (run === undefined || workspace === undefined) return undefined
      const by = executorOf(this.#caller)
      const claim = { id, by, name, leaseMs, claimedAt: now, expiresAt: now + leaseMs }
      const claimed: Run = { ...run, claim, ...noWait }
      const status = claimedStatus(run.status)
      if (status !== run.status) {
        const origin = this.#origin(now, `Claimed by the executor "${name}".`)
        return viewClaim(
          await carryOut(repositories, claimed, workspace, { status, hasChanges: null }, origin),
          workspace,
        )
      }
      // Another executor released the run, or was lost, before it began.
      await repositories.runs.save(claimed)
      return viewClaim(claimed, workspace)
    })
  }

  #origin(now: Instant, description: string): StepOrigin {
    const actor = this.#caller.kind === "agent" ? null : actorOf(this.#caller)
    return { now, random: this.#runtime.random, actor, description }
  }

  /** Renews the lease and runs `work`. Each call of a live executor renews its lease. */
  #alive<T>(id: string, work: (repositories: UsedRepositories, claimed: Claimed) => Promise<T>): Promise<T> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const claimed = await this.#claimed(repositories, id)
      requireLive(claimed.run, claimed.claim, now)
      const run = renewed(claimed.run, claimed.claim, now)
      if (run !== claimed.run) await repositories.runs.save(run)
      return work(repositories, { ...claimed, run })
    })
  }

  /** Throws `not-found` unless the caller is the executor that made the claim and may still execute the run. */
  async #claimed(repositories: ClaimRepositories, id: string): Promise<Claimed> {
    if (this.#caller.kind === "agent" && (this.#caller.claimId ?? id) !== id) throw notFound(id)
    const run = await repositories.runs.findByClaim(id)
    const claim = run?.claim ?? null
    if (run === undefined || claim === null || !isSame(executorOf(this.#caller), claim.by)) throw notFound(id)
    if (this.#caller.kind !== "agent") {
      const { workspace } = await authorizeWorkspace(
        repositories,
        this.#caller,
        { id: run.workspaceId },
        neededFor(run),
      )
      return { run, claim, workspace }
    }
    const workspace = await repositories.workspaces.find({ id: run.workspaceId })
    if (workspace === undefined || !(await executes(repositories, this.#caller.agentPoolId, workspace)))
      throw notFound(id)
    return { run, claim, workspace }
  }

  async #recordExecutor(group: ExecutorGroup): Promise<void> {
    const now = this.#runtime.clock.now()
    const lastSeenAt = await this.#storage.read(({ executors }) => executors.lastSeenAt(group))
    if (isDue(lastSeenAt, now)) await this.#storage.transact((repositories) => recordExecutor(repositories, group, now))
  }

  /** Records the executor of a claim. It searches for no other run while it works on this one. */
  async #recordClaimant(id: string): Promise<void> {
    const { claim, workspace } = await this.#storage.read((repositories) => this.#claimed(repositories, id))
    await this.#recordExecutor(groupOfClaim(claim, workspace))
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void this.#tools.timers.after(durationMs, resolve))
  }
}

interface Claimed {
  readonly run: Run
  readonly claim: RunClaim
  readonly workspace: SituatedWorkspace
}

function executorOf(caller: Caller): RunExecutor {
  switch (caller.kind) {
    case "user":
      return { kind: "users", id: caller.userId }
    case "team":
      return { kind: "teams", id: caller.teamId }
    case "agent":
      return { kind: "agent-pools", id: caller.agentPoolId }
    // Organization tokens execute no runs (docs/permissions.md).
    case "organization":
    case "service":
    case "anonymous":
      throw notFound()
    default:
      return caller satisfies never
  }
}

const isSame = (one: RunExecutor, other: RunExecutor): boolean => one.kind === other.kind && one.id === other.id

const groupOf = ({ organizationId, agentPoolId }: ClaimScope): ExecutorGroup =>
  agentPoolId === undefined ? { organizationId } : { agentPoolId }

/**
 * Returns whether agents of the pool execute runs of the workspace: the pool's scope includes it, and its execution mode is `remote`, or
 * `agent` with this pool.
 */
async function executes(
  { agentPools }: Pick<UsedRepositories, "agentPools">,
  agentPoolId: string,
  workspace: SituatedWorkspace,
): Promise<boolean> {
  const { mode, agentPoolId: ownPoolId } = configuredExecution(workspace)
  if (mode === "local" || (mode === "agent" && ownPoolId !== agentPoolId)) return false
  return agentPools.admits(agentPoolId, { workspaceId: workspace.id, projectId: workspace.projectId })
}

const neededFor = ({ planOnly }: Run): WorkspacePermission => (planOnly ? "canQueueRun" : "canQueueApply")

/** Returns whether the step was already reported. A reported step and the status that followed automatically have the same timestamp. */
function wasReported({ status, statusTimestamps: reached }: Run, step: RunStep): boolean {
  return status === step.status || (reached[step.status] !== undefined && reached[step.status] === reached[status])
}

function viewClaim(run: Run, workspace: SituatedWorkspace, claim = run.claim): RunClaimView {
  if (claim === null) throw notFound(run.id)
  const { id, name, claimedAt, expiresAt } = claim
  const { organization, engineVersion, structuredRunOutputEnabled } = workspace
  // Executors append it to the directory where they unpack. Some would treat a leading slash as the root of the file system.
  const workingDirectory = workspace.workingDirectory?.replace(/^\/+/, "") || null
  return {
    id,
    name,
    claimedAt,
    expiresAt,
    run: viewRun(run, { ...noPermissions, canReadVariable: true }),
    workspace: {
      name: workspace.name,
      organizationName: organization.name,
      workingDirectory,
      engineVersion,
      structuredRunOutputEnabled,
      hasSshKey: workspace.sshKeyId !== null,
    },
  }
}

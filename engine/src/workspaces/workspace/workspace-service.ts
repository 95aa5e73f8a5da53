import type { Caller } from "../../core/caller.ts"
import type { Edition } from "../../core/edition.ts"
import { type Fault, notFound } from "../../core/errors.ts"
import { newId, type OrganizationId, type ProjectId, type WorkspaceId } from "../../core/ids.ts"
import { ownerOf, type Writer } from "../../core/owner.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { atRepeatableRead, type Storage } from "../../core/storage.ts"
import { attributeChanges } from "../../core/attribute-changes.ts"
import type { Change, EventKind, EventRepository } from "../../events/feed/event.ts"
import { authorizeOrganization, authorizeProject } from "../../organizations/authorization.ts"
import type { Organization, OrganizationRepository } from "../../organizations/organization.ts"
import type { Project, ProjectRepository } from "../../organizations/project.ts"
import type { SettingsRepository } from "../../organizations/site-settings.ts"
import { isPrivateKey, type SshKeyStore } from "../../organizations/ssh-key.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { VcsConnectionRepository } from "../../organizations/vcs-connection.ts"
import { bind } from "../tags/bind-tags.ts"
import { flatTagFaults } from "../tags/tag.ts"
import { addFlatAs, type OwnedBinding, type OwnershipPlan, rejectPlan, replaceAs } from "../tags/tag-owners.ts"
import { changesBetween } from "../tags/tag-binding.ts"
import type { TagRepository } from "../tags/tag-repository.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import type { AgentPoolRepository } from "../runs/agent-pool-repository.ts"
import {
  type AuthorizedWorkspace,
  actorOf,
  authorizeWorkspace,
  visibilityIn,
  withPermissions,
} from "../access/workspace-authorization.ts"
import { rejectUnsafeDelete, removeWorkspace } from "./workspace-deletion.ts"
import { knownReleases } from "./terraform-version.ts"
import { executionDefaults } from "./execution-mode.ts"
import {
  extendLock,
  forceUnlock,
  lock,
  type LockChange,
  type LockExtension,
  type LockInput,
  nameHolder,
  unlock,
} from "../lock/lock.ts"
import { assertTokenAdmitted, moveToProject } from "./project-move.ts"
import type { WorkspaceQuery } from "./workspace-query.ts"
import { changeWorkspace, createWorkspace, isWorkspaceName, type Surroundings } from "./workspace-settings.ts"
import { authorizeStateReading } from "../state/state-access.ts"
import { discardAndPromote, promote } from "../state/state-version-rules.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { SituatedWorkspace, Workspace, WorkspaceRef } from "./workspace.ts"
import { tagChanges } from "../tags/tag-events.ts"
import { viewWorkspace, type WorkspaceView } from "./workspace-view.ts"
import { taggableOf, bindingViews } from "../tags/tag-service.ts"
import type { WorkspaceRepository } from "./workspace-repository.ts"
import type { ShownWorkspace, Workspaces, WorkspaceShowing } from "./workspace-api.ts"

interface UsedRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly agentPools: AgentPoolRepository
  readonly events: EventRepository
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly settings: SettingsRepository
  readonly tags: TagRepository
  readonly stateVersions: StateVersionRepository
  readonly sshKeys: SshKeyStore
  readonly teams: TeamRepository
  readonly users: UserRepository
  readonly vcsConnections: VcsConnectionRepository
}

export class WorkspaceService implements Workspaces {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #edition: Edition
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, edition: Edition, caller: Caller) {
    // Repeatable read suffices. Each transaction changes one workspace. Of two concurrent ones on the same workspace, one is retried
    // (`WorkspaceRepository.guard`), so neither decides by rows of the workspace that the other changes.
    // Constraints enforce unique names; foreign keys protect tags and other referenced records. Defaults of the organization and grants are
    // read from the snapshot; transactions that change them decide by nothing that is written here.
    this.#storage = atRepeatableRead(storage)
    this.#runtime = runtime
    this.#edition = edition
    this.#caller = caller
  }

  get(ref: WorkspaceRef, { bindings }: WorkspaceShowing = {}): Promise<ShownWorkspace> {
    return this.#storage.read(async (repositories) => {
      const authorized = await authorizeStateReading(repositories, this.#caller, ref)
      const view = await viewOf(repositories, authorized, this.#edition)
      if (bindings === undefined || authorized.currentStateOnly) return view
      return { ...view, bindings: await bindingViews(repositories, taggableOf(authorized.workspace), bindings) }
    })
  }

  create(organizationName: string, input: WorkspaceInput, writer: Writer = {}): Promise<WorkspaceView> {
    const now = this.#runtime.clock.now()
    const id = newId("ws", this.#runtime.random)
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const projectId = input.projectId || organization.defaultProjectId
      const { project } = await authorizeProject(repositories, this.#caller, projectId, "canCreateWorkspace")
      if (project.organizationId !== organization.id) throw notFound(projectId)
      const taggable = { kind: "workspace", id, organizationId: organization.id } as const
      const planned = await planTags(repositories, organization.id, [], input, ownerOf(writer))
      const surroundings = await this.#surroundings(repositories, { organization, project, id }, input)
      const workspace = createWorkspace(
        { ...input, faults: [...(input.faults ?? []), ...planned.faults] },
        { id, organizationId: organization.id, projectId: project.id },
        surroundings,
        now,
      )
      await repositories.workspaces.insert(workspace)
      await bind(repositories.tags, [{ taggable, change: changesBetween([], planned.bindings) }], {
        now,
        random: this.#runtime.random,
      })
      await repositories.events.append({ kind: "workspace.created", workspace })
      const needed = planned.bindings.length === 0 ? [] : (["canManageTags"] as const)
      return viewOf(
        repositories,
        await authorizeWorkspace(repositories, this.#caller, { id }, ...needed),
        this.#edition,
      )
    })
  }

  list(organizationName: string, query: WorkspaceQuery, page: PageRequest): Promise<Page<WorkspaceView>> {
    return this.#storage.readReplica(async (repositories) => {
      const { organization } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const visibility = visibilityIn(this.#caller, organization.id)
      if (visibility === undefined) throw notFound(organizationName)
      const found = await repositories.workspaces.list(query, visibility, page)
      const authorized = await withPermissions(repositories, this.#caller, found.items)
      return { ...found, items: await viewsOf(repositories, authorized, this.#edition) }
    })
  }

  update(ref: WorkspaceRef, changes: WorkspaceInput, writer: Writer = {}): Promise<WorkspaceView> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const changesTags = changes.tagBindings !== undefined || changes.tags !== undefined
      const needed = changesTags ? (["canManageTags"] as const) : []
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canUpdate", ...needed)
      const { id, organizationId } = workspace
      const projectId = await this.#destination(repositories, workspace, changes.projectId)
      const organization = await repositories.organizations.find(organizationId)
      const project = await repositories.projects.find(projectId)
      if (organization === undefined || project === undefined) throw notFound(id)
      const taggable = { kind: "workspace", id, organizationId } as const
      const present = (await repositories.tags.bindingsOf([taggable])).get(id) ?? []
      const planned = await planTags(repositories, organizationId, present, changes, ownerOf(writer))
      const surroundings = await this.#surroundings(repositories, { organization, project, id }, changes)
      const after = changeWorkspace(
        workspace,
        projectId,
        { ...changes, faults: [...(changes.faults ?? []), ...planned.faults] },
        surroundings,
        now,
      )
      rejectPlan({ faults: [], conflicts: planned.conflicts })
      await assertTokenAdmitted(repositories, after, { from: workspace.projectId })
      await repositories.workspaces.save(workspace, after)
      const change = changesBetween(present, planned.bindings)
      await bind(repositories.tags, [{ taggable, change }], { now, random: this.#runtime.random })
      await repositories.events.append(...settingChanges(workspace, after), ...tagChanges(after, change))
      return viewOf(repositories, await authorizeWorkspace(repositories, this.#caller, { id }), this.#edition)
    })
  }

  async assignSshKey(ref: WorkspaceRef, sshKeyId: string | null): Promise<WorkspaceView> {
    const now = this.#runtime.clock.now()
    let value: string | undefined
    const view = await this.#storage.transact(async (repositories) => {
      const { workspace, permissions } = await authorizeWorkspace(repositories, this.#caller, ref, "canUpdate")
      value = undefined
      if (sshKeyId !== null) {
        const key = await repositories.sshKeys.find(sshKeyId)
        if (key?.organizationId !== workspace.organizationId) throw notFound(sshKeyId)
        value = await repositories.sshKeys.value(sshKeyId)
      }
      const after = { ...workspace, sshKeyId, updatedAt: now }
      await repositories.workspaces.save(workspace, after)
      await repositories.events.append(...settingChanges(workspace, after))
      return viewOf(repositories, { workspace: after, permissions }, this.#edition)
    })
    if (value !== undefined && !isPrivateKey(value))
      this.#runtime.log.warn("ssh-key-unusable", { sshKey: sshKeyId, workspace: view.id })
    return view
  }

  safeDelete(ref: WorkspaceRef): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canDestroy")
      rejectUnsafeDelete(workspace, await repositories.workspaces.stateIsProcessed(workspace.id))
      await removeWorkspace(repositories, workspace)
    })
  }

  forceDelete(ref: WorkspaceRef): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, ref, "canForceDelete")
      await removeWorkspace(repositories, workspace)
    })
  }

  lock(ref: WorkspaceRef, input: LockInput): Promise<WorkspaceView> {
    return this.#storage.transact(async (repositories) => {
      const authorized = await authorizeWorkspace(repositories, this.#caller, ref, "canLock")
      // Locking a locked workspace fails for its holder too. The error contains the name of the holder.
      const named = await nameHolder(repositories, authorized.workspace)
      // Read the clock after the workspace: a lock that has just expired must not block this one.
      const change = lock(named, actorOf(this.#caller), input, this.#runtime.clock.now())
      return changeLock(repositories, authorized, change, "workspace.locked", this.#edition)
    })
  }

  extendLock(ref: WorkspaceRef, input: LockExtension = {}): Promise<WorkspaceView> {
    return this.#storage.transact(async (repositories) => {
      const authorized = await authorizeWorkspace(repositories, this.#caller, ref, "canLock")
      const now = this.#runtime.clock.now()
      const change = extendLock(
        await this.#named(repositories, authorized.workspace),
        actorOf(this.#caller),
        input,
        now,
      )
      return changeLock(repositories, authorized, change, "workspace.lock-extended", this.#edition)
    })
  }

  unlock(ref: WorkspaceRef): Promise<WorkspaceView> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { workspace, permissions } = await authorizeWorkspace(repositories, this.#caller, ref, "canUnlock")
      const newest = await repositories.stateVersions.newestUnderLock(workspace.id, workspace.lockNumber)
      const named = await this.#named(repositories, workspace)
      const change = unlock(named, actorOf(this.#caller), newest?.status === "pending", now)
      const promoted = await promote(repositories, workspace, newest)
      return changeLock(repositories, { workspace: promoted, permissions }, change, "workspace.unlocked", this.#edition)
    })
  }

  forceUnlock(ref: WorkspaceRef): Promise<WorkspaceView> {
    return this.#storage.transact(async (repositories) => {
      const { workspace, permissions } = await authorizeWorkspace(repositories, this.#caller, ref, "canForceUnlock")
      const change = forceUnlock(workspace)
      const promoted = await discardAndPromote(repositories, workspace)
      return changeLock(
        repositories,
        { workspace: promoted, permissions },
        change,
        "workspace.force-unlocked",
        this.#edition,
      )
    })
  }

  moveToProject(projectId: string, workspaceIds: readonly string[]): Promise<void> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact((repositories) =>
      moveToProject(repositories, this.#caller, { projectId, workspaceIds, now }),
    )
  }

  /** Adds the holder's name for an error text. */
  #named(repositories: UsedRepositories, workspace: SituatedWorkspace): Promise<SituatedWorkspace> {
    return nameHolder(repositories, workspace, actorOf(this.#caller))
  }

  /** Returns the destination project of a move. The caller must be an administrator of both projects. */
  async #destination(
    repositories: Pick<UsedRepositories, "projects">,
    workspace: Workspace,
    wanted: string | null | undefined,
  ): Promise<ProjectId> {
    if (!wanted || wanted === workspace.projectId) return workspace.projectId
    const { project } = await authorizeProject(repositories, this.#caller, wanted, "canMoveWorkspaces")
    if (project.organizationId !== workspace.organizationId) throw notFound(wanted)
    await authorizeProject(repositories, this.#caller, workspace.projectId, "canMoveWorkspaces")
    return project.id
  }

  async #surroundings(
    repositories: Pick<UsedRepositories, "agentPools" | "workspaces" | "settings" | "vcsConnections">,
    place: { readonly organization: Organization; readonly project: Project; readonly id: WorkspaceId },
    input: WorkspaceInput,
  ): Promise<Surroundings> {
    const { organization, project, id } = place
    const named =
      input.name === undefined || !isWorkspaceName(input.name)
        ? undefined
        : await repositories.workspaces.find({ organization: organization.name, name: input.name })
    const settings = await repositories.settings.get()
    return {
      edition: this.#edition,
      plan: organization.plan,
      execution: executionDefaults(organization, project),
      globalRemoteStateDefault: this.#edition === "self-hosted" && settings.defaultGlobalRemoteState,
      releases: knownReleases(settings.engineReleases),
      nameIsTaken: named !== undefined && named.id !== id,
      agentPoolAdmits:
        !input.agentPoolId ||
        (await repositories.agentPools.admits(input.agentPoolId, { workspaceId: id, projectId: project.id })),
      oauthTokenAdmits:
        !input.vcsRepo?.oauthTokenId ||
        (await repositories.vcsConnections.admits(input.vcsRepo.oauthTokenId, project.id)),
      ...(await referencesOf(repositories, organization.id, input)),
    }
  }
}

/** Returns the events of an update. A move is a separate event, because other callers may see the workspace after it. */
function settingChanges(before: Workspace, after: Workspace): Change[] {
  const changed = attributeChanges(before, after, ["updatedAt", "projectId"])
  return [
    ...(before.projectId === after.projectId
      ? []
      : [{ kind: "workspace.moved", workspace: after, changed: ["project"] } as const]),
    ...(changed.length === 0 ? [] : [{ kind: "workspace.updated", workspace: after, changed } as const]),
  ]
}

const nothingReferenced = { agentPoolExists: false, oauthTokenExists: false, appInstallationExists: false }

async function referencesOf(
  { workspaces }: Pick<UsedRepositories, "workspaces">,
  organizationId: OrganizationId,
  { agentPoolId, vcsRepo }: WorkspaceInput,
) {
  const ids = {
    agentPoolId: agentPoolId ?? "",
    oauthTokenId: vcsRepo?.oauthTokenId ?? "",
    appInstallationId: vcsRepo?.githubAppInstallationId ?? "",
  }
  const isAnyNamed = Object.values(ids).some((id) => id !== "")
  return isAnyNamed ? workspaces.references(organizationId, ids) : nothingReferenced
}

/** Plans the tags of an input: bindings with a value replace the present ones, flat tags are added. */
async function planTags(
  { tags: store }: Pick<UsedRepositories, "tags">,
  organizationId: OrganizationId,
  present: readonly OwnedBinding[],
  { tagBindings, tags }: Pick<WorkspaceInput, "tagBindings" | "tags">,
  owner: string | undefined,
): Promise<OwnershipPlan> {
  const valued =
    tagBindings === undefined
      ? { bindings: present, faults: [], conflicts: [] }
      : replaceAs(owner, present, tagBindings, ["tagBindings"])
  if (tags === undefined || tags.length === 0) return valued
  const ids = tags.flatMap((tag) => ("id" in tag ? [tag.id] : []))
  const known = new Map(
    (ids.length === 0 ? [] : await store.findMany(organizationId, ids)).map(({ id, name }) => [id as string, name]),
  )
  const unknown = tags.flatMap((tag, index): Fault[] =>
    "id" in tag && !known.has(tag.id)
      ? [{ field: ["tags", index, "id"], detail: "Tag does not exist in this organization" }]
      : [],
  )
  if (unknown.length > 0) return { ...valued, faults: [...valued.faults, ...unknown] }
  const names = tags.map((tag) => ("id" in tag ? (known.get(tag.id) ?? "") : tag.name))
  const flat = addFlatAs(owner, valued.bindings, names, ["tags"])
  return {
    bindings: flat.bindings,
    faults: [...valued.faults, ...flatTagFaults(names, ["tags"]), ...flat.faults],
    conflicts: [...valued.conflicts, ...flat.conflicts],
  }
}

async function changeLock(
  { workspaces }: Pick<UsedRepositories, "workspaces">,
  { workspace, permissions }: AuthorizedWorkspace,
  change: LockChange,
  kind: EventKind,
  edition: Edition,
): Promise<WorkspaceView> {
  const changed = [kind === "workspace.lock-extended" ? "lockedUntil" : "locked"]
  const related = await workspaces.changeLock(workspace, change, kind, changed)
  return viewWorkspace({ ...workspace, ...change }, permissions, related, edition)
}

/** Returns the document of a workspace, with the related ids it contains. */
export async function viewOf(
  repositories: Pick<UsedRepositories, "workspaces">,
  authorized: AuthorizedWorkspace,
  edition: Edition,
): Promise<WorkspaceView> {
  const [view] = await viewsOf(repositories, [authorized], edition)
  return view as WorkspaceView
}

/** Returns the documents of several workspaces, with as many queries as for one. */
export async function viewsOf(
  repositories: Pick<UsedRepositories, "workspaces">,
  authorized: readonly AuthorizedWorkspace[],
  edition: Edition,
): Promise<WorkspaceView[]> {
  if (authorized.length === 0) return []
  const related = await repositories.workspaces.related(authorized.map(({ workspace }) => workspace))
  return authorized.map(({ workspace, permissions }) =>
    viewWorkspace(workspace, permissions, related.get(workspace.id), edition),
  )
}

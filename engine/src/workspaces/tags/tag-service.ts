// Rights on tags follow those on the tagged resource: a caller sees the tags of the resources it can see. Changing an organization's pool
// needs the right to manage tags in the organization; changing a workspace's tags needs it on the workspace.
import type { Caller } from "../../core/caller.ts"
import { conflict, type Fault, notFound, rejectFaults } from "../../core/errors.ts"
import { newId, type WorkspaceId } from "../../core/ids.ts"
import { ownerOf, type Writer } from "../../core/owner.ts"
import { mapPage, type Page, type PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import { authorizeOrganization, authorizeProject } from "../../organizations/authorization.ts"
import { type OrganizationRepository, permissionsIn } from "../../organizations/organization.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import { bind, type TaggableChange } from "./bind-tags.ts"
import { type CountedTag, flatTagFaults, foldTag, type Tag } from "./tag.ts"
import { addFlatAs, bindAs, type OwnershipPlan, rejectPlan, removeFlatAs } from "./tag-owners.ts"
import {
  type Binding,
  type BindingChange,
  changesBetween,
  type EffectiveTagBinding,
  effectiveBindings,
  type TagBinding,
} from "./tag-binding.ts"
import type { Taggable, TagRepository } from "./tag-repository.ts"
import type { Showing, TagBindingView, TagFilter, TagReference, Tags, TagView } from "./tag-api.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { authorizeWorkspace, withPermissions } from "../access/workspace-authorization.ts"
import { isVisible } from "../access/workspace-permissions.ts"
import { tagChanges } from "./tag-events.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { Workspace } from "../workspace/workspace.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly events: EventRepository
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly tags: TagRepository
  readonly workspaces: WorkspaceRepository
}

// Most transactions here are repeatable read. Of two on the same workspace, one is retried (`WorkspaceRepository.guard`), so that the limit
// of bindings and the rules of owners hold.
// A tag is unique by constraint, and the foreign key of a binding protects it from deletion. Deletion of a pool's tag checks for other
// owners, and deletes its bindings by their foreign key. A binding that was added or changed owners since the snapshot causes a retry.
// Bindings of a project are counted without a row that all writers write, so those transactions stay serializable.

/** Path of the list in the documents of these endpoints. */
const prefix = ["data"]

export class TagService implements Tags {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  list(organizationName: string, { search, exceptOf = [] }: TagFilter, page: PageRequest): Promise<Page<TagView>> {
    return this.#storage.readReplica(async (repositories) => {
      const { organization } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const seen = await this.#visible(repositories, exceptOf)
      const found = await repositories.tags.list(
        { organizationId: organization.id, ...(search === undefined ? {} : { search }), exceptOf: seen },
        page,
      )
      return mapPage(found, (tag) => viewOf(tag, organization.name))
    })
  }

  create(organizationName: string, names: readonly string[]): Promise<readonly TagView[]> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canManageTags",
      )
      rejectFaults(flatTagFaults(names, prefix))
      const firstSpellings = new Map<string, string>()
      for (const name of names) if (!firstSpellings.has(foldTag(name))) firstSpellings.set(foldTag(name), name)
      const drafts = [...firstSpellings.values()].map((name) => ({
        id: newId("tag", this.#runtime.random),
        organizationId: organization.id,
        name,
        createdAt: now,
      }))
      const tags = await repositories.tags.ensure(drafts)
      const made = new Set<string>(drafts.map(({ id }) => id))
      await repositories.events.append(
        ...tags
          .filter(({ id }) => made.has(id))
          .map(({ id, organizationId }): Change => ({
            kind: "tag.created",
            organizationId,
            subject: { type: "tags", id },
          })),
      )
      const counted = await repositories.tags.counted(tags.map(({ id }) => id))
      const views = new Map(counted.map((tag) => [tag.id, viewOf(tag, organization.name)]))
      return tags.flatMap(({ id }) => views.get(id) ?? [])
    }, repeatableRead)
  }

  delete(organizationName: string, ids: readonly string[], writer: Writer = {}): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canManageTags",
      )
      const found = await repositories.tags.findMany(organization.id, ids)
      rejectMissing(ids, found)
      const owner = ownerOf(writer)
      if (owner !== undefined) await rejectForeignTags(repositories, found, owner)
      await repositories.tags.remove(found.map(({ id }) => id))
      await repositories.events.append(
        ...found.map(({ id, organizationId, name }): Change => {
          const formerTags = [{ key: name, value: "" }]
          return { kind: "tag.deleted", organizationId, subject: { type: "tags", id }, formerTags }
        }),
      )
    }, repeatableRead)
  }

  apply(tagId: string, workspaceIds: readonly string[], writer: Writer = {}): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const tag = await repositories.tags.find(tagId)
      if (tag === undefined || permissionsIn(this.#caller, tag.organizationId) === undefined) throw notFound(tagId)
      const ids = [...new Set(workspaceIds)] as WorkspaceId[]
      const found = await withPermissions(repositories, this.#caller, await repositories.workspaces.findMany(ids))
      const manageable = found.filter(
        ({ workspace, permissions }) =>
          workspace.organizationId === tag.organizationId && isVisible(permissions) && permissions.canManageTags,
      )
      rejectMissing(
        ids,
        manageable.map(({ workspace }) => workspace),
      )
      const taggables = manageable.map(({ workspace }) => taggableOf(workspace))
      repositories.workspaces.guard(taggables.map(({ id }) => id as WorkspaceId))
      const present = await repositories.tags.bindingsOf(taggables)
      const owner = ownerOf(writer)
      const changes = taggables.map((taggable) => {
        const before = present.get(taggable.id) ?? []
        const plan = addFlatAs(owner, before, [tag.name], prefix)
        const placed = ({ detail }: Fault): Fault => ({
          field: [...prefix, workspaceIds.indexOf(taggable.id), "id"],
          detail: `${taggable.id}: ${detail}`,
        })
        return {
          change: { taggable, change: changesBetween(before, plan.bindings) },
          faults: plan.faults.map(placed),
          conflicts: plan.conflicts.map(placed),
        }
      })
      rejectPlan({
        faults: changes.flatMap(({ faults }) => faults),
        conflicts: changes.flatMap(({ conflicts }) => conflicts),
      })
      await this.#bind(
        repositories,
        changes.map(({ change }) => change),
      )
      await repositories.events.append(
        ...manageable.flatMap(({ workspace }, index) => {
          const change = changes[index]?.change.change
          return change === undefined ? [] : tagChanges(workspace, change)
        }),
      )
    }, repeatableRead)
  }

  ofWorkspace(
    workspaceId: string,
    page: PageRequest,
    { search }: Pick<TagFilter, "search"> = {},
  ): Promise<Page<TagView>> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId })
      const found = await repositories.tags.tagsOf(workspace.id, page, search)
      return mapPage(found, (tag) => viewOf(tag, workspace.organization.name))
    })
  }

  add(workspaceId: string, references: readonly TagReference[], writer: Writer = {}): Promise<void> {
    return this.#changeWorkspace(workspaceId, async (repositories, workspace, present) => {
      const names = await namesOf(repositories, workspace, references)
      const plan = addFlatAs(ownerOf(writer), present, names, prefix)
      return { ...plan, faults: [...newNameFaults(references), ...plan.faults] }
    })
  }

  remove(workspaceId: string, references: readonly TagReference[], writer: Writer = {}): Promise<void> {
    return this.#changeWorkspace(workspaceId, async (repositories, workspace, present) =>
      removeFlatAs(ownerOf(writer), present, await namesOf(repositories, workspace, references)),
    )
  }

  bindings(workspaceId: string, showing: Showing = {}): Promise<readonly TagBindingView[]> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId })
      return bindingViews(repositories, taggableOf(workspace), showing)
    })
  }

  effectiveBindings(workspaceId: string, showing: Showing = {}): Promise<readonly EffectiveTagBinding[]> {
    return this.#storage.read(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId })
      const { organizationId, projectId } = workspace
      const present = await repositories.tags.bindingsOf([
        taggableOf(workspace),
        { kind: "project", id: projectId, organizationId },
      ])
      const project = { id: projectId, bindings: present.get(projectId) ?? [] }
      const own = present.get(workspace.id) ?? []
      const tags = showing.tags === true ? own.filter(({ isBinding }) => !isBinding) : []
      return [...tags.map((entry) => ({ ...entry, inheritedFrom: null })), ...effectiveBindings(own, project)].map(
        (entry) => ({ ...shownEntry(entry, showing), inheritedFrom: entry.inheritedFrom }),
      )
    })
  }

  bind(workspaceId: string, bindings: readonly Binding[], writer: Writer = {}): Promise<readonly TagBindingView[]> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId }, "canManageTags")
      const change = await this.#bindTo(repositories, taggableOf(workspace), bindings, writer)
      await repositories.events.append(...tagChanges(workspace, change))
      return bindingViews(repositories, taggableOf(workspace))
    }, repeatableRead)
  }

  projectBindings(projectId: string, showing: Showing = {}): Promise<readonly TagBindingView[]> {
    return this.#storage.read(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, projectId)
      return bindingViews(
        repositories,
        { kind: "project", id: project.id, organizationId: project.organizationId },
        showing,
      )
    })
  }

  bindProject(
    projectId: string,
    bindings: readonly Binding[],
    writer: Writer = {},
  ): Promise<readonly TagBindingView[]> {
    return this.#storage.transact(async (repositories) => {
      const { project } = await authorizeProject(repositories, this.#caller, projectId, "canUpdate")
      const taggable: Taggable = { kind: "project", id: project.id, organizationId: project.organizationId }
      const { put, remove } = await this.#bindTo(repositories, taggable, bindings, writer)
      if (put.length + remove.length > 0)
        await repositories.events.append({
          kind: "project-tag-bindings.updated",
          organizationId: project.organizationId,
          subject: { type: "projects", id: project.id },
          changed: ["tagBindings"],
        })
      return bindingViews(repositories, taggable)
    })
  }

  async #bindTo(
    repositories: UsedRepositories,
    taggable: Taggable,
    given: readonly Binding[],
    writer: Writer,
  ): Promise<BindingChange> {
    const present = (await repositories.tags.bindingsOf([taggable])).get(taggable.id) ?? []
    const plan = bindAs(ownerOf(writer), present, given, prefix)
    rejectPlan(plan)
    const change = changesBetween(present, plan.bindings)
    await this.#bind(repositories, [{ taggable, change }])
    return change
  }

  #changeWorkspace(
    workspaceId: string,
    plan: (
      repositories: UsedRepositories,
      workspace: Workspace,
      present: readonly TagBinding[],
    ) => Promise<OwnershipPlan>,
  ): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { workspace } = await authorizeWorkspace(repositories, this.#caller, { id: workspaceId }, "canManageTags")
      const taggable = taggableOf(workspace)
      const present = (await repositories.tags.bindingsOf([taggable])).get(workspace.id) ?? []
      const planned = await plan(repositories, workspace, present)
      rejectPlan(planned)
      const change = changesBetween(present, planned.bindings)
      await this.#bind(repositories, [{ taggable, change }])
      await repositories.events.append(...tagChanges(workspace, change))
    }, repeatableRead)
  }

  #bind({ tags }: UsedRepositories, changes: readonly TaggableChange[]): Promise<void> {
    return bind(tags, changes, { now: this.#runtime.clock.now(), random: this.#runtime.random })
  }

  /** Returns the ids of workspaces that the caller can see, so that the filter reveals no tags of hidden workspaces. */
  async #visible(repositories: UsedRepositories, ids: readonly string[]): Promise<WorkspaceId[]> {
    const found = await repositories.workspaces.findMany(ids as readonly WorkspaceId[])
    const authorized = await withPermissions(repositories, this.#caller, found)
    return authorized.filter(({ permissions }) => isVisible(permissions)).map(({ workspace }) => workspace.id)
  }
}

export const taggableOf = ({ id, organizationId }: Pick<Workspace, "id" | "organizationId">): Taggable => ({
  kind: "workspace",
  id,
  organizationId,
})

export async function bindingViews(
  { tags }: Pick<UsedRepositories, "tags">,
  taggable: Taggable,
  showing: Showing = {},
): Promise<readonly TagBindingView[]> {
  const present = (await tags.bindingsOf([taggable])).get(taggable.id) ?? []
  return present
    .filter(({ isBinding }) => isBinding || showing.tags === true)
    .map((entry) => ({ id: entry.id, ...shownEntry(entry, showing), createdAt: entry.createdAt }))
}

const shownEntry = ({ key, value, isTag, isBinding, owners }: TagBinding, showing: Showing) => ({
  key,
  value,
  ...(showing.owners && { owners }),
  ...(showing.tags && { isTag, isBinding }),
})

async function rejectForeignTags({ tags }: UsedRepositories, found: readonly Tag[], owner: string): Promise<void> {
  const foreign = await tags.heldByOthers(
    found.map(({ id }) => id),
    owner,
  )
  if (foreign.length === 0) return
  const names = new Map(found.map(({ id, name }) => [id, name]))
  const details = foreign.map(({ tagId, workspaceId, owners }) => {
    const others = owners.filter((one) => one !== owner).join(", ")
    return `Tag ${names.get(tagId) ?? tagId} of ${workspaceId} is owned by ${others}; ${owner} cannot delete it`
  })
  throw conflict(details.join("; "))
}

/** Resolves references to names. An id must belong to a tag of the organization; a name need not exist. */
async function namesOf(
  { tags }: UsedRepositories,
  { organizationId }: Workspace,
  references: readonly TagReference[],
): Promise<readonly string[]> {
  const ids = references.flatMap((reference) => ("id" in reference ? [reference.id] : []))
  const found = new Map((await tags.findMany(organizationId, ids)).map((tag) => [tag.id as string, tag.name]))
  return references.map((reference) => {
    if ("name" in reference) return reference.name
    const name = found.get(reference.id)
    if (name === undefined) throw notFound(reference.id)
    return name
  })
}

/** Checks names only: the name of an existing tag was valid at its creation. */
const newNameFaults = (references: readonly TagReference[]): Fault[] =>
  references.flatMap((reference, index) =>
    "id" in reference
      ? []
      : flatTagFaults([reference.name], []).map(({ detail }) => ({ field: [...prefix, index, "name"], detail })),
  )

function rejectMissing(ids: readonly string[], found: readonly { readonly id: string }[]): void {
  const known = new Set(found.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing !== undefined) throw notFound(missing)
}

const viewOf = ({ organizationId: _id, ...tag }: CountedTag, organizationName: string): TagView => ({
  ...tag,
  organizationName,
})

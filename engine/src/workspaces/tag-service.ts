// Tags are seen by whoever sees what carries them; the pool is changed by whoever manages tags in the whole organization, the
// tags of a workspace by whoever manages them there.
import type { Caller } from "../core/caller.ts"
import { type Fault, notFound, refuseFaults } from "../core/errors.ts"
import { newId, type WorkspaceId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { authorizeOrganization } from "../organizations/authorization.ts"
import { permissionsIn } from "../organizations/organization-permissions.ts"
import { authorizeProject } from "../organizations/project-authorization.ts"
import type { Stores } from "../stores.ts"
import { bind, type BearerChange } from "../tags/bind.ts"
import { type CountedTag, flatTagFaults, foldTag } from "../tags/tag.ts"
import {
  addAndChange,
  addFlat,
  type Binding,
  changesBetween,
  type EffectiveTagBinding,
  effectiveBindings,
  type PlannedBindings,
  removeFlat,
  type TagBinding,
} from "../tags/tag-binding.ts"
import type { Bearer } from "../tags/tag-store.ts"
import type { TagBindingView, TagFilter, TagReference, Tags, TagView } from "../tags/tags.ts"
import { authorizeWorkspace, withPermissions } from "./authorization.ts"
import { isVisible } from "./permissions.ts"
import type { Workspace } from "./workspace.ts"

type UsedStores = Pick<Stores, "access" | "organizations" | "projects" | "tags" | "workspaces">

/** How the documents of these endpoints call their list. */
const prefix = ["data"]

export class TagService implements Tags {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  list(organizationName: string, { search, exceptOf = [] }: TagFilter, page: PageRequest): Promise<Page<TagView>> {
    return this.#storage.read(async (stores) => {
      const { organization } = await authorizeOrganization(stores, this.#caller, organizationName)
      const seen = await this.#visible(stores, exceptOf)
      const found = await stores.tags.list(
        { organizationId: organization.id, ...(search === undefined ? {} : { search }), exceptOf: seen },
        page,
      )
      return mapPage(found, (tag) => viewOf(tag, organization.name))
    })
  }

  create(organizationName: string, names: readonly string[]): Promise<readonly TagView[]> {
    const now = this.#runtime.clock.now()
    return this.#storage.transact(async (stores) => {
      const { organization } = await authorizeOrganization(stores, this.#caller, organizationName, "canManageTags")
      refuseFaults(flatTagFaults(names, prefix))
      const firstSpellings = new Map<string, string>()
      for (const name of names) if (!firstSpellings.has(foldTag(name))) firstSpellings.set(foldTag(name), name)
      const tags = await stores.tags.ensure(
        [...firstSpellings.values()].map((name) => ({
          id: newId("tag", this.#runtime.random),
          organizationId: organization.id,
          name,
          createdAt: now,
        })),
      )
      const counted = await stores.tags.counted(tags.map(({ id }) => id))
      const views = new Map(counted.map((tag) => [tag.id, viewOf(tag, organization.name)]))
      return tags.flatMap(({ id }) => views.get(id) ?? [])
    })
  }

  delete(organizationName: string, ids: readonly string[]): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const { organization } = await authorizeOrganization(stores, this.#caller, organizationName, "canManageTags")
      const found = await stores.tags.findMany(organization.id, ids)
      refuseMissing(ids, found)
      await stores.tags.remove(found.map(({ id }) => id))
    })
  }

  apply(tagId: string, workspaceIds: readonly string[]): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const tag = await stores.tags.find(tagId)
      if (tag === undefined || permissionsIn(this.#caller, tag.organizationId) === undefined) throw notFound(tagId)
      const ids = [...new Set(workspaceIds)] as WorkspaceId[]
      const found = await withPermissions(stores, this.#caller, await stores.workspaces.findMany(ids))
      const manageable = found.filter(
        ({ workspace, permissions }) =>
          workspace.organizationId === tag.organizationId && isVisible(permissions) && permissions.canManageTags,
      )
      refuseMissing(
        ids,
        manageable.map(({ workspace }) => workspace),
      )
      const bearers = manageable.map(({ workspace }) => bearerOf(workspace))
      const present = await stores.tags.bindingsOf(bearers)
      const changes = bearers.map((bearer) => {
        const before = present.get(bearer.id) ?? []
        const { bindings, faults } = addFlat(before, [tag.name], prefix)
        return { change: { bearer, change: changesBetween(before, bindings) }, faults }
      })
      refuseFaults(
        changes.flatMap(({ change: { bearer }, faults }) =>
          faults.map(({ detail }) => ({
            field: [...prefix, workspaceIds.indexOf(bearer.id), "id"],
            detail: `${bearer.id}: ${detail}`,
          })),
        ),
      )
      await this.#bind(
        stores,
        changes.map(({ change }) => change),
      )
    })
  }

  ofWorkspace(
    workspaceId: string,
    page: PageRequest,
    { search }: Pick<TagFilter, "search"> = {},
  ): Promise<Page<TagView>> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, { id: workspaceId })
      const found = await stores.tags.tagsOf(workspace.id, page, search)
      return mapPage(found, (tag) => viewOf(tag, workspace.organization.name))
    })
  }

  add(workspaceId: string, references: readonly TagReference[]): Promise<void> {
    return this.#changeWorkspace(workspaceId, async (stores, workspace, present) => {
      const { bindings, faults } = addFlat(present, await namesOf(stores, workspace, references), prefix)
      return { bindings, faults: [...newNameFaults(references), ...faults] }
    })
  }

  remove(workspaceId: string, references: readonly TagReference[]): Promise<void> {
    return this.#changeWorkspace(workspaceId, async (stores, workspace, present) => ({
      bindings: removeFlat(present, await namesOf(stores, workspace, references)),
      faults: [],
    }))
  }

  bindings(workspaceId: string): Promise<readonly TagBindingView[]> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, { id: workspaceId })
      return bindingViews(stores, bearerOf(workspace))
    })
  }

  effectiveBindings(workspaceId: string): Promise<readonly EffectiveTagBinding[]> {
    return this.#storage.read(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, { id: workspaceId })
      const { organizationId, projectId } = workspace
      const present = await stores.tags.bindingsOf([
        bearerOf(workspace),
        { kind: "project", id: projectId, organizationId },
      ])
      const project = { id: projectId, bindings: present.get(projectId) ?? [] }
      return effectiveBindings(present.get(workspace.id) ?? [], project).map(({ key, value, inheritedFrom }) => ({
        key,
        value,
        inheritedFrom,
      }))
    })
  }

  bind(workspaceId: string, bindings: readonly Binding[]): Promise<readonly TagBindingView[]> {
    return this.#storage.transact(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, { id: workspaceId }, "canManageTags")
      return this.#bindTo(stores, bearerOf(workspace), bindings)
    })
  }

  projectBindings(projectId: string): Promise<readonly TagBindingView[]> {
    return this.#storage.read(async (stores) => {
      const { project } = await authorizeProject(stores, this.#caller, projectId)
      return bindingViews(stores, { kind: "project", id: project.id, organizationId: project.organizationId })
    })
  }

  bindProject(projectId: string, bindings: readonly Binding[]): Promise<readonly TagBindingView[]> {
    return this.#storage.transact(async (stores) => {
      const { project } = await authorizeProject(stores, this.#caller, projectId, "canUpdate")
      const bearer: Bearer = { kind: "project", id: project.id, organizationId: project.organizationId }
      return this.#bindTo(stores, bearer, bindings)
    })
  }

  async #bindTo(stores: UsedStores, bearer: Bearer, given: readonly Binding[]): Promise<readonly TagBindingView[]> {
    const present = (await stores.tags.bindingsOf([bearer])).get(bearer.id) ?? []
    const { bindings, faults } = addAndChange(present, given, prefix)
    refuseFaults(faults)
    await this.#bind(stores, [{ bearer, change: changesBetween(present, bindings) }])
    return bindingViews(stores, bearer)
  }

  #changeWorkspace(
    workspaceId: string,
    plan: (stores: UsedStores, workspace: Workspace, present: readonly TagBinding[]) => Promise<PlannedBindings>,
  ): Promise<void> {
    return this.#storage.transact(async (stores) => {
      const { workspace } = await authorizeWorkspace(stores, this.#caller, { id: workspaceId }, "canManageTags")
      const bearer = bearerOf(workspace)
      const present = (await stores.tags.bindingsOf([bearer])).get(workspace.id) ?? []
      const { bindings, faults } = await plan(stores, workspace, present)
      refuseFaults(faults)
      await this.#bind(stores, [{ bearer, change: changesBetween(present, bindings) }])
    })
  }

  #bind({ tags }: UsedStores, changes: readonly BearerChange[]): Promise<void> {
    return bind(tags, changes, { now: this.#runtime.clock.now(), random: this.#runtime.random })
  }

  /** Those among these ids that the caller sees: the tags of a hidden workspace are not to be told from the others. */
  async #visible(stores: UsedStores, ids: readonly string[]): Promise<WorkspaceId[]> {
    const found = await stores.workspaces.findMany(ids as readonly WorkspaceId[])
    const authorized = await withPermissions(stores, this.#caller, found)
    return authorized.filter(({ permissions }) => isVisible(permissions)).map(({ workspace }) => workspace.id)
  }
}

export const bearerOf = ({ id, organizationId }: Pick<Workspace, "id" | "organizationId">): Bearer => ({
  kind: "workspace",
  id,
  organizationId,
})

async function bindingViews({ tags }: UsedStores, bearer: Bearer): Promise<readonly TagBindingView[]> {
  const present = (await tags.bindingsOf([bearer])).get(bearer.id) ?? []
  return present.map(({ id, key, value, createdAt }) => ({ id, key, value, createdAt }))
}

/** The names that are meant; an id must belong to a tag of the organization, a name need not. */
async function namesOf(
  { tags }: UsedStores,
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

/** Of the names given as such: a tag that is there has a name that was accepted once. */
const newNameFaults = (references: readonly TagReference[]): Fault[] =>
  references.flatMap((reference, index) =>
    "id" in reference
      ? []
      : flatTagFaults([reference.name], []).map(({ detail }) => ({ field: [...prefix, index, "name"], detail })),
  )

function refuseMissing(ids: readonly string[], found: readonly { readonly id: string }[]): void {
  const known = new Set(found.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing !== undefined) throw notFound(missing)
}

const viewOf = ({ organizationId: _id, ...tag }: CountedTag, organizationName: string): TagView => ({
  ...tag,
  organizationName,
})

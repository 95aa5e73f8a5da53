import { conflict, isEngineError, unprocessable } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import { maximumPageSize, type Page, type PageRequest } from "../core/page.ts"
import type { Engine } from "../engine.ts"
import { flatTagFaults, foldTag } from "../workspaces/tags/tag.ts"
import type { TagView } from "../workspaces/tags/tag-api.ts"
import {
  type Changes,
  type Created,
  type Declarant,
  type DeclaredResource,
  type Definition,
  type Origin,
  PartlyCreated,
  type Removal,
} from "./declared-resource.ts"
import { sameText } from "./same-value.ts"
import { diffMembers, member, required, type SpecOf, validator } from "./members.ts"
import { text, texts } from "./types.ts"
import { organizationMember } from "./organization-members.ts"

const members = {
  organization: organizationMember("Organization that owns the tag."),
  name: required(text, "Name of the tag.", { same: sameText, providedBy: "name", forcesReplacement: true }),
  workspaceIds: member(
    texts(),
    "Workspaces to tag; others may have the tag as well. A tag that leaves its last workspace is replaced by a new one.",
  ),
}

/** Flat tag of an organization, and workspaces that have it. Other workspaces may have it as well. */
export type TagSpec = SpecOf<typeof members>

export interface ObservedTag {
  readonly organization: string
  readonly name: string
  /** Workspaces of the spec that have the tag. */
  readonly workspaceIds: readonly string[]
}

export const tagResource: DeclaredResource<TagSpec, ObservedTag> & Definition = {
  name: "tag",
  description:
    'A flat tag of an organization. `deletionPolicy: "safe"` keeps it while other workspaces have it. Its id is `tag-…`.',
  outputsDescription: "Outputs of a tag.",
  members,
  outputs: {},
  adoption: "an existing tag of this name",
  memberNames: Object.keys(members),
  validate: validator<TagSpec>(members, ({ name }) =>
    name === undefined ? [] : flatTagFaults([name], []).map(({ detail }) => ({ field: ["name"], detail })),
  ),
  diff: changes,
  observe,
  create,
  update,
  delete: remove,
}

function changes(spec: TagSpec, observed: ObservedTag, dropped: readonly string[] = []): Changes {
  const workspaceIds = spec.workspaceIds ?? (dropped.includes("workspaceIds") ? [] : observed.workspaceIds)
  const { changed } = diffMembers(members, { ...spec, workspaceIds }, observed)
  // The engine deletes a tag that leaves its last workspace; a later tag of this name has another id.
  const leavesAll = observed.workspaceIds.length > 0 && !workspaceIds.some((id) => observed.workspaceIds.includes(id))
  const mustReplace = changed.filter((name) => name !== "workspaceIds" || leavesAll)
  return { changed, mustReplace, removeFirst: mustReplace.includes("workspaceIds") && mustReplace.length === 1 }
}

async function observe(engine: Engine, id: string, spec: Partial<TagSpec>): Promise<ObservedTag | undefined> {
  const { organization = "", name, workspaceIds = [] } = spec
  const tag = name === undefined ? await tagById(engine, organization, id) : await tagNamed(engine, organization, name)
  if (tag === undefined || tag.id !== id) return undefined
  const carrying = new Set(workspaceIds.length === 0 ? [] : await findTagged(engine, organization, tag.name))
  return { organization, name: tag.name, workspaceIds: workspaceIds.filter((one) => carrying.has(one)) }
}

async function create(engine: Engine, spec: TagSpec, { adopt, owner }: Origin): Promise<Created<ObservedTag>> {
  const { organization, name, workspaceIds = [] } = spec
  const present = await tagNamed(engine, organization, name)
  const others = present === undefined ? 0 : await othersOn(engine, organization, present, workspaceIds)
  // A tag that no other resource has may come from a lost answer. It is taken over without `adopt`.
  if (present !== undefined && others > 0 && !adopt)
    throw conflict(
      `tag "${present.name}" of ${organization} already exists on ${others} resources that this one does not name; name them too, import the tag, or choose another name`,
    )
  const tag = present ?? (await created(engine, organization, name))
  if (workspaceIds.length > 0) {
    try {
      await engine.tags.apply(tag.id, workspaceIds, { owner })
    } catch (error) {
      throw new PartlyCreated(tag.id, { organization, name: tag.name, workspaceIds: [] }, error)
    }
  }
  return { id: tag.id, observed: { organization, name: tag.name, workspaceIds }, adopted: others > 0 }
}

/** Returns the number of resources that have the tag and are not in `workspaceIds`. */
async function othersOn(
  engine: Engine,
  organization: string,
  { name, instanceCount }: TagView,
  workspaceIds: readonly string[],
): Promise<number> {
  if (instanceCount === 0 || workspaceIds.length === 0) return instanceCount
  const taggedIds = await findTagged(engine, organization, name)
  return instanceCount - taggedIds.filter((id) => workspaceIds.includes(id)).length
}

async function created(engine: Engine, organization: string, name: string): Promise<TagView> {
  const [tag] = await engine.tags.create(organization, [name])
  if (tag === undefined) throw unprocessable(`tag "${name}" was not created`)
  return tag
}

async function update(
  engine: Engine,
  id: string,
  spec: TagSpec,
  observed: ObservedTag,
  dropped: readonly string[] = [],
  { owner }: Declarant = {},
): Promise<ObservedTag> {
  const workspaceIds = spec.workspaceIds ?? (dropped.includes("workspaceIds") ? [] : observed.workspaceIds)
  const added = workspaceIds.filter((one) => !observed.workspaceIds.includes(one))
  if (added.length > 0) await engine.tags.apply(id, added, { owner })
  for (const workspaceId of observed.workspaceIds.filter((one) => !workspaceIds.includes(one)))
    await takeFrom(engine, workspaceId, id, { owner })
  return { ...observed, workspaceIds }
}

async function takeFrom(engine: Engine, workspaceId: string, id: string, writer: Writer): Promise<void> {
  try {
    await engine.tags.remove(workspaceId, [{ id }], writer)
  } catch (error) {
    // The workspace no longer exists, and its tags with it.
    if (!isEngineError(error, "not-found")) throw error
  }
}

async function remove(
  engine: Engine,
  id: string,
  spec: Partial<TagSpec>,
  removal: Removal,
  { owner }: Writer,
): Promise<void> {
  const { organization = "", name = "", workspaceIds = [] } = spec
  const tag = await tagNamed(engine, organization, name)
  if (tag === undefined || tag.id !== id) return
  const others = removal === "safe" ? await othersOn(engine, organization, tag, workspaceIds) : 0
  if (others > 0) throw conflict(`tag "${tag.name}" is on ${others} resources that are not in workspaceIds`)
  await engine.tags.delete(organization, [id], removal === "safe" ? { owner } : {})
}

async function tagNamed(engine: Engine, organization: string, name: string): Promise<TagView | undefined> {
  const folded = foldTag(name)
  return firstOf(
    (page) => engine.tags.list(organization, { search: name }, page),
    (tag) => foldTag(tag.name) === folded,
  )
}

/** Searches all tags, because the API has no endpoint that reads a tag by its id. */
const tagById = (engine: Engine, organization: string, id: string): Promise<TagView | undefined> =>
  firstOf(
    (page) => engine.tags.list(organization, {}, page),
    (tag) => tag.id === id,
  )

const findTagged = async (engine: Engine, organization: string, name: string): Promise<readonly string[]> => {
  const ids: string[] = []
  await firstOf(
    (page) => engine.workspaces.list(organization, { tags: [name] }, page),
    ({ id }) => {
      ids.push(id)
      return false
    },
  )
  return ids
}

/** Maximum number of pages: 100,000 items. */
const maxPages = 1_000

async function firstOf<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  isMeant: (item: T) => boolean,
): Promise<T | undefined> {
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await list({ number, size: maximumPageSize })
    const meant = items.find(isMeant)
    if (meant !== undefined || items.length === 0 || number * maximumPageSize >= totalCount) return meant
  }
  return undefined
}

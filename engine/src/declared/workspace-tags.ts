import { type Fault, isEngineError } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { flatTagFaults, foldTag } from "../workspaces/tags/tag.ts"
import { concerning, foldedKeys, type ShownBinding, shownOn } from "./owned-tags.ts"
import { type Created, type DeclaredResource, type Definition, modeWhenRead } from "./declared-resource.ts"
import { sameTags } from "./same-value.ts"
import { diffMembers, required, type SpecOf, validator } from "./members.ts"
import { listOf, text } from "./types.ts"
import { modeMember, workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace that has the tags."),
  tags: required(listOf(text.schema, { same: sameTags }), "Flat tags, in any order and letter case."),
  mode: modeMember(
    "`additive`: keep tags that are not listed. `exclusive`: remove them, except those of other owners (docs/tag-owners.md).",
  ),
}

/** Flat tags of a workspace: with `exclusive` all but those of other owners, with `additive` (the default) some of them. */
export type WorkspaceTagsSpec = SpecOf<typeof members>

export interface ObservedWorkspaceTags {
  readonly workspaceId: string
  /** All tags but those of other owners, or with `additive` those of the spec that exist. */
  readonly tags: readonly string[]
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const workspaceTagsResource: DeclaredResource<WorkspaceTagsSpec, ObservedWorkspaceTags> & Definition = {
  name: "workspaceTags",
  description: "Flat tags of one workspace. Its id is that of the workspace.",
  outputsDescription: "Outputs of the flat tags of a workspace.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: validator<WorkspaceTagsSpec>(members, ({ tags = [] }) => tagFaults(tags)),
  diff: (spec, observed) => diffMembers(members, { ...spec, mode: modeOf(spec) }, observed),
  observe,
  create: async (engine, spec, { owner }): Promise<Created<ObservedWorkspaceTags>> => ({
    id: spec.workspaceId,
    observed: await bring(engine, spec, [], { owner }),
    adopted: false,
  }),
  update: (engine, _id, spec, observed, _dropped, { owner } = {}) => bring(engine, spec, observed.tags, { owner }),
  delete: async (engine, id, { tags = [] }, _removal, { owner }) => {
    try {
      await removeTags(engine, id, tags, { owner })
    } catch (error) {
      // The workspace no longer exists, and its tags with it.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

function tagFaults(tags: readonly string[]): readonly Fault[] {
  const folded = tags.map(foldTag)
  return [
    ...flatTagFaults(tags, ["tags"]).map(({ field = [], detail }) => ({ field: field.slice(0, 2), detail })),
    ...tags.flatMap((tag, index) =>
      folded.indexOf(foldTag(tag)) === index
        ? []
        : [{ field: ["tags", index], detail: `tag "${tag}" is listed more than once` }],
    ),
  ]
}

const modeOf = ({ mode = "additive" }: Partial<WorkspaceTagsSpec>) => mode

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<WorkspaceTagsSpec>,
  writer: Writer,
): Promise<ObservedWorkspaceTags | undefined> {
  try {
    const { tags = [], mode = modeWhenRead(spec.tags) } = spec
    const present = await shownOn(engine, id)
    return observedWorkspaceTags({ workspaceId: id, tags, mode }, flatOf(present, tags, writer))
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Adds and removes tags. `before` are those that this declaration added earlier. */
async function bring(
  engine: Engine,
  spec: WorkspaceTagsSpec,
  before: readonly string[],
  writer: Writer,
): Promise<ObservedWorkspaceTags> {
  const { workspaceId, tags } = spec
  const wanted = foldedKeys(tags)
  const present = spec.mode === "exclusive" ? flatOf(await shownOn(engine, workspaceId), tags, writer) : before
  // Existing tags are added too, so that this owner holds them as well.
  if (tags.length > 0) {
    await engine.tags.add(
      workspaceId,
      tags.map((name) => ({ name })),
      writer,
    )
  }
  const obsolete = present.filter((tag) => !wanted.has(foldTag(tag)))
  await removeTags(engine, workspaceId, obsolete, writer)
  return { workspaceId, tags, mode: modeOf(spec) }
}

async function removeTags(engine: Engine, workspaceId: string, tags: readonly string[], writer: Writer): Promise<void> {
  if (tags.length === 0) return
  await engine.tags.remove(
    workspaceId,
    tags.map((name) => ({ name })),
    writer,
  )
}

/** Returns the observation, out of the flat tags that a workspace has. Tags of the spec keep its spelling. */
export function observedWorkspaceTags(spec: WorkspaceTagsSpec, present: readonly string[]): ObservedWorkspaceTags {
  const there = new Set(present.map(foldTag))
  const ours = spec.tags.filter((tag) => there.has(foldTag(tag)))
  const named = new Set(ours.map(foldTag))
  const others = spec.mode === "exclusive" ? present.filter((tag) => !named.has(foldTag(tag))) : []
  return { workspaceId: spec.workspaceId, tags: [...ours, ...others], mode: modeOf(spec) }
}

/** Returns names of flat tags that concern this declaration. */
const flatOf = (bindings: readonly ShownBinding[], tags: readonly string[], writer: Writer): readonly string[] =>
  concerning(
    bindings.filter(({ isTag }) => isTag),
    foldedKeys(tags),
    writer,
  ).map(({ key }) => key)

import { isEngineError } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { foldTag } from "../workspaces/tags/tag.ts"
import { concerning, foldedKeys, replacement, replacementOn, shownOn, valuesOf } from "./owned-tags.ts"
import { type Declarant, type DeclaredResource, type Definition, modeWhenRead } from "./declared-resource.ts"
import { bindingsFaults } from "./workspace.ts"
import { diffMembers, required, type SpecOf, validator } from "./members.ts"
import { textMap } from "./types.ts"
import { modeMember, workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace that has the tags."),
  bindings: required(
    textMap,
    "Values by key; at most ten on a workspace. A tag without a value is a flat tag (`WorkspaceTags`).",
  ),
  mode: modeMember(
    "`additive`: keep bindings that are not listed. `exclusive`: remove them, except those of other owners (docs/tag-owners.md).",
  ),
}

/** Key-value tags of a workspace: with `exclusive` all but those of other owners, with `additive` (the default) some of them. */
export type TagBindingsSpec = SpecOf<typeof members>

export interface ObservedTagBindings {
  readonly workspaceId: string
  /** All bindings but those of other owners, or with `additive` those with keys of the spec. */
  readonly bindings: Readonly<Record<string, string>>
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const tagBindingsResource: DeclaredResource<TagBindingsSpec, ObservedTagBindings> & Definition = {
  name: "tagBindings",
  description: "Key-value tags of one workspace. Its id is that of the workspace.",
  outputsDescription: "Outputs of the key-value tags of a workspace.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: validator<TagBindingsSpec>(members, ({ bindings = {} }) => bindingsFaults(bindings, "bindings")),
  diff: (spec, observed) => diffMembers(members, { ...spec, mode: modeOf(spec) }, observed),
  observe,
  create: async (engine, spec, { owner }) => ({
    id: spec.workspaceId,
    observed: await bring(engine, spec, {}, { owner }),
    adopted: false,
  }),
  update: (engine, _id, spec, observed, _dropped, declarant = {}) => bring(engine, spec, observed.bindings, declarant),
  delete: async (engine, id, { bindings = {} }, _removal, { owner }) => {
    try {
      await leaveOut(engine, id, Object.keys(bindings), { owner })
    } catch (error) {
      // The workspace no longer exists, and its bindings with it.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

const modeOf = ({ mode = "additive" }: Partial<TagBindingsSpec>) => mode

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<TagBindingsSpec>,
  writer: Writer,
): Promise<ObservedTagBindings | undefined> {
  try {
    const { bindings = {}, mode = modeWhenRead(spec.bindings) } = spec
    const present = concerning(await shownOn(engine, id), foldedKeys(Object.keys(bindings)), writer)
    return observedTagBindings({ workspaceId: id, bindings, mode }, Object.entries(valuesOf(present)))
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Returns the observation, out of the key-value bindings that a workspace has. */
export function observedTagBindings(spec: TagBindingsSpec, present: readonly Entry[]): ObservedTagBindings {
  const mode = modeOf(spec)
  const keys = foldedKeys(Object.keys(spec.bindings))
  const seen = mode === "exclusive" ? present : present.filter(([key]) => keys.has(foldTag(key)))
  return { workspaceId: spec.workspaceId, bindings: Object.fromEntries(seen), mode }
}

/** Adds and removes bindings. `before` are those that this declaration added earlier. */
async function bring(
  engine: Engine,
  spec: TagBindingsSpec,
  before: Readonly<Record<string, string>>,
  declarant: Declarant,
): Promise<ObservedTagBindings> {
  const { workspaceId, bindings } = spec
  const { owner } = declarant
  const mode = modeOf(spec)
  const keys = foldedKeys(Object.keys(bindings))
  if (mode === "exclusive") {
    const all = await replacementOn(engine, workspaceId, bindings, before, declarant)
    await engine.workspaces.update({ id: workspaceId }, { tagBindings: listOf(all) }, { owner })
  } else {
    // Remove first: a workspace has ten key-value bindings at most.
    const obsolete = Object.keys(before).filter((key) => !keys.has(foldTag(key)))
    if (obsolete.length > 0) await leaveOut(engine, workspaceId, obsolete, { owner })
    if (keys.size > 0) await engine.tags.bind(workspaceId, listOf(bindings), { owner })
  }
  return { workspaceId, bindings, mode }
}

type Entry = readonly [key: string, value: string]

const listOf = (bindings: Readonly<Record<string, string>>) =>
  Object.entries(bindings).map(([key, value]) => ({ key, value }))

async function leaveOut(
  engine: Engine,
  workspaceId: string,
  keys: readonly string[],
  { owner }: Writer,
): Promise<void> {
  const obsolete = foldedKeys(keys)
  const present = concerning(await shownOn(engine, workspaceId), new Set(), { owner })
  const [going, left] = [true, false].map((goes) =>
    valuesOf(present.filter(({ key }) => obsolete.has(foldTag(key)) === goes)),
  )
  if (Object.keys(going ?? {}).length === 0) return
  if (owner === undefined) {
    await engine.workspaces.update({ id: workspaceId }, { tagBindings: listOf(left ?? {}) })
    return
  }
  const { taken, bindings } = replacement(present, {}, going ?? {}, { owner, leavesOthers: true })
  if (taken.length > 0) await engine.tags.bind(workspaceId, taken, { owner })
  await engine.workspaces.update({ id: workspaceId }, { tagBindings: listOf(bindings) }, { owner })
}

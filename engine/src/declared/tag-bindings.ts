import { type Fault, isEngineError } from "../core/errors.ts"
import type { Writer } from "../core/owner.ts"
import type { Engine } from "../engine.ts"
import { foldTag } from "../tags/tag.ts"
import { concerning, foldedKeys, replacement, replacementOn, shownOn, valuesOf } from "./held-tags.ts"
import { type Changes, type Declarant, type DeclaredResource, modeWhenRead, type Values } from "./declared-resource.ts"
import { differing } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"
import { bindingsFaults } from "./workspace.ts"

const shape = shapes.members({
  workspaceId: shapes.text().filled(),
  bindings: shapes.texts(),
  mode: shapes.oneOf(["additive", "exclusive"]).optional(),
})

/**
 * Key-value tags of a workspace: `exclusive` are all it has but for those that other owners hold, `additive` (the default) are
 * among them.
 */
export type TagBindingsSpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedTagBindings {
  readonly workspaceId: string
  /** All there are but for those that others hold, or with `additive` those whose keys the spec has. */
  readonly bindings: Readonly<Record<string, string>>
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const tagBindingsResource: DeclaredResource<TagBindingsSpec, ObservedTagBindings> = {
  memberNames: Object.keys(shape.members),
  validate: faults,
  diff: changes,
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
      // With the workspace its bindings are gone.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const misshapen = shapes.faultsOf(shape, spec, open)
  if (open.has("bindings") || misshapen.some(({ field }) => field?.[0] === "bindings")) return misshapen
  return [...misshapen, ...bindingsFaults((spec as TagBindingsSpec).bindings, "bindings")]
}

function changes(spec: TagBindingsSpec, observed: ObservedTagBindings): Changes {
  const changed = differing({ ...spec, mode: modeOf(spec) }, observed, {})
  return { changed, mustReplace: changed.filter((name) => name === "workspaceId") }
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

/** Of the bindings with a value that a workspace has. */
export function observedTagBindings(spec: TagBindingsSpec, present: readonly Entry[]): ObservedTagBindings {
  const mode = modeOf(spec)
  const keys = foldedKeys(Object.keys(spec.bindings))
  const seen = mode === "exclusive" ? present : present.filter(([key]) => keys.has(foldTag(key)))
  return { workspaceId: spec.workspaceId, bindings: Object.fromEntries(seen), mode }
}

/** `before` are those that this declaration had brought. */
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
    // What goes makes room first: there may be ten bindings with a value, and no more.
    const gone = Object.keys(before).filter((key) => !keys.has(foldTag(key)))
    if (gone.length > 0) await leaveOut(engine, workspaceId, gone, { owner })
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
  const gone = foldedKeys(keys)
  const present = concerning(await shownOn(engine, workspaceId), new Set(), { owner })
  const [going, left] = [true, false].map((goes) =>
    valuesOf(present.filter(({ key }) => gone.has(foldTag(key)) === goes)),
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

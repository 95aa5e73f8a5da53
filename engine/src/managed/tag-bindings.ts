import * as z from "zod"
import { type Fault, isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { foldTag } from "../tags/tag.ts"
import { isFlat } from "../tags/tag-binding.ts"
import type { Changes, ManagedKind, Values } from "./managed-kind.ts"
import { differing } from "./same-value.ts"
import { shapeFaults } from "./spec-shape.ts"
import { bindingsFaults } from "./workspace.ts"

const shape = z.strictObject({
  workspaceId: z.string().min(1),
  bindings: z.record(z.string(), z.string()),
  mode: z.enum(["additive", "exclusive"]).optional(),
})

/** Key-value tags of a workspace: `exclusive` are all it has, `additive` (the default) are among them. */
export type TagBindingsSpec = Readonly<z.infer<typeof shape>>

export interface ObservedTagBindings {
  readonly workspaceId: string
  /** All there are, or with `additive` those whose keys the spec has. */
  readonly bindings: Readonly<Record<string, string>>
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const tagBindingsKind: ManagedKind<TagBindingsSpec, ObservedTagBindings> = {
  members: Object.keys(shape.shape),
  faults,
  changes,
  observe,
  create: async (engine, spec) => ({
    id: spec.workspaceId,
    observed: await bring(engine, spec, {}),
    adopted: false,
  }),
  update: (engine, _id, spec, observed) => bring(engine, spec, observed.bindings),
  remove: async (engine, id, { bindings = {} }) => {
    try {
      await leaveOut(engine, id, await boundOn(engine, id), Object.keys(bindings))
    } catch (error) {
      // With the workspace its bindings are gone.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const misshapen = shapeFaults(shape, spec, open)
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
): Promise<ObservedTagBindings | undefined> {
  try {
    const { bindings = {}, mode = "additive" } = spec
    return observedTagBindings({ workspaceId: id, bindings, mode }, await boundOn(engine, id))
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** Of the bindings with a value that a workspace has. */
export function observedTagBindings(spec: TagBindingsSpec, present: readonly Entry[]): ObservedTagBindings {
  const mode = modeOf(spec)
  const keys = foldedKeys(spec.bindings)
  const seen = mode === "exclusive" ? present : present.filter(([key]) => keys.has(foldTag(key)))
  return { workspaceId: spec.workspaceId, bindings: Object.fromEntries(seen), mode }
}

/** `before` are those that this declaration had brought. */
async function bring(
  engine: Engine,
  spec: TagBindingsSpec,
  before: Readonly<Record<string, string>>,
): Promise<ObservedTagBindings> {
  const { workspaceId, bindings } = spec
  const mode = modeOf(spec)
  const keys = foldedKeys(bindings)
  if (mode === "exclusive") {
    await engine.workspaces.update({ id: workspaceId }, { tagBindings: listOf(Object.entries(bindings)) })
  } else {
    // What goes makes room first: there may be ten bindings with a value, and no more.
    const gone = Object.keys(before).filter((key) => !keys.has(foldTag(key)))
    if (gone.length > 0) await leaveOut(engine, workspaceId, await boundOn(engine, workspaceId), gone)
    if (keys.size > 0) await engine.tags.bind(workspaceId, listOf(Object.entries(bindings)))
  }
  return { workspaceId, bindings, mode }
}

type Entry = readonly [key: string, value: string]

const listOf = (entries: readonly Entry[]) => entries.map(([key, value]) => ({ key, value }))

const foldedKeys = (bindings: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(Object.keys(bindings).map(foldTag))

async function boundOn(engine: Engine, workspaceId: string): Promise<readonly Entry[]> {
  const bindings = await engine.tags.bindings(workspaceId)
  return bindings.filter((binding) => !isFlat(binding)).map(({ key, value }) => [key, value])
}

async function leaveOut(
  engine: Engine,
  workspaceId: string,
  present: readonly Entry[],
  keys: readonly string[],
): Promise<void> {
  const gone = new Set(keys.map(foldTag))
  const left = present.filter(([key]) => !gone.has(foldTag(key)))
  if (left.length < present.length) await engine.workspaces.update({ id: workspaceId }, { tagBindings: listOf(left) })
}

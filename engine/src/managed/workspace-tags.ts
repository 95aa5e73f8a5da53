import * as z from "zod"
import { type Fault, isEngineError } from "../core/errors.ts"
import { maximumPageSize } from "../core/page.ts"
import type { Engine } from "../engine.ts"
import { flatTagFaults, foldTag } from "../tags/tag.ts"
import type { Changes, Created, ManagedKind, Values } from "./managed-kind.ts"
import { differing, sameTags } from "./same-value.ts"
import { shapeFaults } from "./spec-shape.ts"

const shape = z.strictObject({
  workspaceId: z.string().min(1),
  tags: z.array(z.string()),
  mode: z.enum(["additive", "exclusive"]).optional(),
})

/** Flat tags of a workspace: `exclusive` are all it has, `additive` (the default) are among them. */
export type WorkspaceTagsSpec = Readonly<z.infer<typeof shape>>

export interface ObservedWorkspaceTags {
  readonly workspaceId: string
  /** All there are, or with `additive` those of the spec that are there. */
  readonly tags: readonly string[]
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const workspaceTagsKind: ManagedKind<WorkspaceTagsSpec, ObservedWorkspaceTags> = {
  members: Object.keys(shape.shape),
  faults,
  changes,
  observe,
  create: async (engine, spec): Promise<Created<ObservedWorkspaceTags>> => {
    const id = spec.workspaceId
    const present = await namesOf(engine, id)
    return { id, observed: await bring(engine, spec, present, []), adopted: false }
  },
  update: async (engine, id, spec, observed) => bring(engine, spec, await namesOf(engine, id), observed.tags),
  remove: async (engine, id, { tags = [] }) => {
    try {
      await removeTags(engine, id, tags)
    } catch (error) {
      // With the workspace its tags are gone.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const misshapen = shapeFaults(shape, spec, open)
  if (open.has("tags") || misshapen.some(({ field }) => field?.[0] === "tags")) return misshapen
  const { tags } = spec as WorkspaceTagsSpec
  const folded = tags.map(foldTag)
  return [
    ...misshapen,
    ...flatTagFaults(tags, ["tags"]).map(({ field = [], detail }) => ({ field: field.slice(0, 2), detail })),
    ...tags.flatMap((tag, index) =>
      folded.indexOf(foldTag(tag)) === index
        ? []
        : [{ field: ["tags", index], detail: `tag "${tag}" is given more than once` }],
    ),
  ]
}

function changes(spec: WorkspaceTagsSpec, observed: ObservedWorkspaceTags): Changes {
  const changed = differing({ ...spec, mode: modeOf(spec) }, observed, { tags: sameTags })
  return { changed, mustReplace: changed.filter((name) => name === "workspaceId") }
}

const modeOf = ({ mode = "additive" }: Partial<WorkspaceTagsSpec>) => mode

async function observe(
  engine: Engine,
  id: string,
  { tags = [], ...spec }: Partial<WorkspaceTagsSpec>,
): Promise<ObservedWorkspaceTags | undefined> {
  try {
    return observedWorkspaceTags({ workspaceId: id, tags, mode: modeOf(spec) }, await namesOf(engine, id))
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** One request for what is new and one for what goes; `before` are those that this declaration had brought. */
async function bring(
  engine: Engine,
  spec: WorkspaceTagsSpec,
  present: readonly string[],
  before: readonly string[],
): Promise<ObservedWorkspaceTags> {
  const wanted = new Set(spec.tags.map(foldTag))
  const there = new Set(present.map(foldTag))
  const added = spec.tags.filter((tag) => !there.has(foldTag(tag)))
  const gone = (spec.mode === "exclusive" ? present : before).filter((tag) => !wanted.has(foldTag(tag)))
  if (added.length > 0) {
    await engine.tags.add(
      spec.workspaceId,
      added.map((name) => ({ name })),
    )
  }
  await removeTags(engine, spec.workspaceId, gone)
  return { workspaceId: spec.workspaceId, tags: spec.tags, mode: modeOf(spec) }
}

async function removeTags(engine: Engine, workspaceId: string, tags: readonly string[]): Promise<void> {
  if (tags.length === 0) return
  await engine.tags.remove(
    workspaceId,
    tags.map((name) => ({ name })),
  )
}

/** Of the tags that a workspace has, in the spelling of the spec where it names one. */
export function observedWorkspaceTags(spec: WorkspaceTagsSpec, present: readonly string[]): ObservedWorkspaceTags {
  const there = new Set(present.map(foldTag))
  const ours = spec.tags.filter((tag) => there.has(foldTag(tag)))
  const named = new Set(ours.map(foldTag))
  const others = spec.mode === "exclusive" ? present.filter((tag) => !named.has(foldTag(tag))) : []
  return { workspaceId: spec.workspaceId, tags: [...ours, ...others], mode: modeOf(spec) }
}

/** More than any workspace carries. */
const pagesMaximum = 100

async function namesOf(engine: Engine, workspaceId: string): Promise<readonly string[]> {
  const names: string[] = []
  for (let number = 1; number <= pagesMaximum; number += 1) {
    const { items, totalCount } = await engine.tags.ofWorkspace(workspaceId, { number, size: maximumPageSize })
    names.push(...items.map(({ name }) => name))
    if (names.length >= totalCount || items.length === 0) break
  }
  return names
}

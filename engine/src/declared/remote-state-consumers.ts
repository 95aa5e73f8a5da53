import { type Fault, isEngineError } from "../core/errors.ts"
import { maximumPageSize } from "../core/page.ts"
import type { Engine } from "../engine.ts"
import { type Changes, type DeclaredResource, modeWhenRead, type Values } from "./declared-resource.ts"
import { differing, sameSet } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({
  workspaceId: shapes.text().filled(),
  consumerIds: shapes.list(shapes.text().filled()),
  mode: shapes.oneOf(["additive", "exclusive"]).optional(),
})

/** Remote state consumers of a workspace. `exclusive` replaces the whole list, `additive` (the default) adds to it. */
export type RemoteStateConsumersSpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedRemoteStateConsumers {
  readonly workspaceId: string
  /** All there are, or with `additive` those of the spec that are there. */
  readonly consumerIds: readonly string[]
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const remoteStateConsumersResource: DeclaredResource<RemoteStateConsumersSpec, ObservedRemoteStateConsumers> = {
  memberNames: Object.keys(shape.members),
  validate: faults,
  diff: changes,
  observe,
  create: async (engine, spec) => ({ id: spec.workspaceId, observed: await bring(engine, spec, []), adopted: false }),
  update: (engine, _id, spec, observed) => bring(engine, spec, observed.consumerIds),
  delete: async (engine, id, { consumerIds = [] }) => {
    try {
      if (consumerIds.length > 0) await engine.remoteStateConsumers.remove(id, consumerIds)
    } catch (error) {
      // With the workspace nobody reads its state any more.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const misshapen = shapes.faultsOf(shape, spec, open)
  if (open.has("consumerIds") || misshapen.some(({ field }) => field?.[0] === "consumerIds")) return misshapen
  const { consumerIds, workspaceId } = spec as RemoteStateConsumersSpec
  return [
    ...misshapen,
    ...consumerIds.flatMap((id, index) => {
      const field = ["consumerIds", index]
      if (id === workspaceId) return [{ field, detail: "a workspace reads its own state anyway; leave it out" }]
      return consumerIds.indexOf(id) === index ? [] : [{ field, detail: `${id} is given more than once` }]
    }),
  ]
}

const modeOf = ({ mode = "additive" }: Partial<RemoteStateConsumersSpec>) => mode

function changes(spec: RemoteStateConsumersSpec, observed: ObservedRemoteStateConsumers): Changes {
  const changed = differing({ ...spec, mode: modeOf(spec) }, observed, { consumerIds: sameSet })
  return { changed, mustReplace: changed.filter((name) => name === "workspaceId") }
}

async function observe(
  engine: Engine,
  id: string,
  spec: Partial<RemoteStateConsumersSpec>,
): Promise<ObservedRemoteStateConsumers | undefined> {
  try {
    const { consumerIds = [], mode = modeWhenRead(spec.consumerIds) } = spec
    const present = await consumersOf(engine, id)
    const ours = consumerIds.filter((one) => present.includes(one))
    const others = mode === "exclusive" ? present.filter((one) => !ours.includes(one)) : []
    return { workspaceId: id, consumerIds: [...ours, ...others], mode }
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

/** `before` are those that this declaration had brought. */
async function bring(
  engine: Engine,
  spec: RemoteStateConsumersSpec,
  before: readonly string[],
): Promise<ObservedRemoteStateConsumers> {
  const { workspaceId, consumerIds } = spec
  if (modeOf(spec) === "exclusive") await engine.remoteStateConsumers.replace(workspaceId, consumerIds)
  else {
    if (consumerIds.length > 0) await engine.remoteStateConsumers.add(workspaceId, consumerIds)
    const gone = before.filter((id) => !consumerIds.includes(id))
    if (gone.length > 0) await engine.remoteStateConsumers.remove(workspaceId, gone)
  }
  return { workspaceId, consumerIds, mode: modeOf(spec) }
}

/** A hundred thousand workspaces. */
const pagesMaximum = 1_000

async function consumersOf(engine: Engine, workspaceId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let number = 1; number <= pagesMaximum; number += 1) {
    const { items, totalCount } = await engine.remoteStateConsumers.list(workspaceId, { number, size: maximumPageSize })
    ids.push(...items.map(({ id }) => id))
    if (items.length === 0 || ids.length >= totalCount) break
  }
  return ids
}

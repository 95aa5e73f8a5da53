import { isEngineError } from "../core/errors.ts"
import { maximumPageSize } from "../core/page.ts"
import type { Engine } from "../engine.ts"
import { type DeclaredResource, type Definition, modeWhenRead } from "./declared-resource.ts"
import { diffMembers, required, type SpecOf, validator } from "./members.ts"
import { texts } from "./types.ts"
import { modeMember, workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace whose state is read; its `globalRemoteState` must be false."),
  consumerIds: required(texts(), "Workspaces of the same organization that may read the state, in any order."),
  mode: modeMember(
    "`additive`: keep consumers that are not listed. `exclusive`: remove them; the token must see all of them.",
  ),
}

/** Workspaces that may read the state of a workspace: all of them with `exclusive`, some of them with `additive` (the default). */
export type RemoteStateConsumersSpec = SpecOf<typeof members>

export interface ObservedRemoteStateConsumers {
  readonly workspaceId: string
  /** All consumers, or with `additive` those of the spec that exist. */
  readonly consumerIds: readonly string[]
  readonly mode: "additive" | "exclusive"
}

/** The id is that of the workspace. */
export const remoteStateConsumersResource: DeclaredResource<RemoteStateConsumersSpec, ObservedRemoteStateConsumers> &
  Definition = {
  name: "remoteStateConsumers",
  description: "Workspaces that may read the state of a workspace. Its id is that of the workspace.",
  outputsDescription: "Outputs of the remote state consumers of a workspace.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: validator<RemoteStateConsumersSpec>(members, ({ consumerIds = [], workspaceId }) =>
    consumerIds.flatMap((id, index) => {
      const field = ["consumerIds", index]
      if (id === workspaceId)
        return [{ field, detail: `${id} is the workspace itself, which always reads its own state; remove it` }]
      return consumerIds.indexOf(id) === index ? [] : [{ field, detail: `${id} is listed more than once` }]
    }),
  ),
  diff: (spec, observed) => diffMembers(members, { ...spec, mode: modeOf(spec) }, observed),
  observe,
  create: async (engine, spec) => ({ id: spec.workspaceId, observed: await bring(engine, spec, []), adopted: false }),
  update: (engine, _id, spec, observed) => bring(engine, spec, observed.consumerIds),
  delete: async (engine, id, { consumerIds = [] }) => {
    try {
      if (consumerIds.length > 0) await engine.remoteStateConsumers.remove(id, consumerIds)
    } catch (error) {
      // The workspace no longer exists, and its consumers with it.
      if (!isEngineError(error, "not-found")) throw error
    }
  },
}

const modeOf = ({ mode = "additive" }: Partial<RemoteStateConsumersSpec>) => mode

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

/** Adds and removes consumers. `before` are those that this declaration added earlier. */
async function bring(
  engine: Engine,
  spec: RemoteStateConsumersSpec,
  before: readonly string[],
): Promise<ObservedRemoteStateConsumers> {
  const { workspaceId, consumerIds } = spec
  if (modeOf(spec) === "exclusive") await engine.remoteStateConsumers.replace(workspaceId, consumerIds)
  else {
    if (consumerIds.length > 0) await engine.remoteStateConsumers.add(workspaceId, consumerIds)
    const obsolete = before.filter((id) => !consumerIds.includes(id))
    if (obsolete.length > 0) await engine.remoteStateConsumers.remove(workspaceId, obsolete)
  }
  return { workspaceId, consumerIds, mode: modeOf(spec) }
}

/** Maximum number of pages: 100,000 workspaces. */
const maxPages = 1_000

async function consumersOf(engine: Engine, workspaceId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let number = 1; number <= maxPages; number += 1) {
    const { items, totalCount } = await engine.remoteStateConsumers.list(workspaceId, { number, size: maximumPageSize })
    ids.push(...items.map(({ id }) => id))
    if (items.length === 0 || ids.length >= totalCount) break
  }
  return ids
}

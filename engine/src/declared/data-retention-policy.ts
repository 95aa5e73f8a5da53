import { type Fault, isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { retentionFaults } from "../workspaces/retention-policy.ts"
import type { Changes, DeclaredResource, Values } from "./declared-resource.ts"
import { differing } from "./same-value.ts"
import * as shapes from "./spec-shape.ts"

const shape = shapes.members({
  workspaceId: shapes.text().filled(),
  deleteOlderThanDays: shapes.number().nullable().optional(),
})

/**
 * Data retention policy of a workspace: how long the data of old states and configurations stays. Without a number of days, it
 * is never deleted. For the self-hosted edition.
 */
export type DataRetentionPolicySpec = Readonly<shapes.Of<typeof shape>>

export interface ObservedDataRetentionPolicy {
  readonly workspaceId: string
  readonly deleteOlderThanDays: number | null
}

/** The id is that of the workspace. */
export const dataRetentionPolicyResource: DeclaredResource<DataRetentionPolicySpec, ObservedDataRetentionPolicy> = {
  memberNames: Object.keys(shape.members),
  validate: faults,
  diff: changes,
  observe,
  create: async (engine, spec) => ({ id: spec.workspaceId, observed: await put(engine, spec), adopted: false }),
  update: (engine, _id, spec) => put(engine, spec),
  delete: async (engine, id) => {
    if ((await observe(engine, id)) !== undefined) await engine.retentionPolicies.delete({ kind: "workspace", id })
  },
}

function faults(spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] {
  const misshapen = shapes.faultsOf(shape, spec, open)
  const { deleteOlderThanDays: days } = spec as Partial<DataRetentionPolicySpec>
  if (typeof days !== "number") return misshapen
  const ruled = retentionFaults("workspace", { kind: "delete-older", days })
  return [...misshapen, ...ruled.map(({ detail }) => ({ field: ["deleteOlderThanDays"], detail }))]
}

function changes(spec: DataRetentionPolicySpec, observed: ObservedDataRetentionPolicy): Changes {
  const { workspaceId, deleteOlderThanDays = null } = spec
  const changed = differing({ workspaceId, deleteOlderThanDays }, observed, {})
  return { changed, mustReplace: changed.filter((name) => name === "workspaceId") }
}

async function observe(engine: Engine, id: string): Promise<ObservedDataRetentionPolicy | undefined> {
  try {
    const { rule, target } = await engine.retentionPolicies.get({ kind: "workspace", id })
    // That of its organization is not the workspace's own.
    if (target.kind !== "workspace") return undefined
    return { workspaceId: id, deleteOlderThanDays: rule.kind === "delete-older" ? rule.days : null }
  } catch (error) {
    if (isEngineError(error, "not-found")) return undefined
    throw error
  }
}

async function put(engine: Engine, spec: DataRetentionPolicySpec): Promise<ObservedDataRetentionPolicy> {
  const { workspaceId, deleteOlderThanDays = null } = spec
  await engine.retentionPolicies.set(
    { kind: "workspace", id: workspaceId },
    deleteOlderThanDays === null ? { kind: "dont-delete" } : { kind: "delete-older", days: deleteOlderThanDays },
  )
  return { workspaceId, deleteOlderThanDays }
}

import { isEngineError } from "../core/errors.ts"
import type { Engine } from "../engine.ts"
import { retentionFaults } from "../workspaces/state/retention-policy.ts"
import type { DeclaredResource, Definition } from "./declared-resource.ts"
import { diffMembers, type InForce, member, type SpecOf, validator } from "./members.ts"
import { number, orNull } from "./types.ts"
import { workspaceMember } from "./organization-members.ts"

const members = {
  workspaceId: workspaceMember("Workspace of the policy."),
  deleteOlderThanDays: member(orNull(number), "Age in days after which old states and configurations are deleted.", {
    default: null,
    defaultText: "never",
  }),
}

/**
 * Retention of the data of old state and configuration versions of a workspace, without limit if no number of days is declared. Requires
 * the self-hosted edition.
 */
export type DataRetentionPolicySpec = SpecOf<typeof members>

export type ObservedDataRetentionPolicy = InForce<typeof members>

/** The id is that of the workspace. */
export const dataRetentionPolicyResource: DeclaredResource<DataRetentionPolicySpec, ObservedDataRetentionPolicy> &
  Definition = {
  name: "dataRetentionPolicy",
  description:
    "Retention of old states and configurations of a workspace (self-hosted edition only). Its id is that of the workspace.",
  outputsDescription: "Outputs of a data retention policy.",
  members,
  outputs: {},
  memberNames: Object.keys(members),
  validate: validator<DataRetentionPolicySpec>(members, ({ deleteOlderThanDays: days }) =>
    typeof days === "number"
      ? retentionFaults("workspace", { kind: "delete-older", days }).map(({ detail }) => ({
          field: ["deleteOlderThanDays"],
          detail,
        }))
      : [],
  ),
  diff: ({ workspaceId, deleteOlderThanDays = null }, observed) =>
    diffMembers(members, { workspaceId, deleteOlderThanDays }, observed),
  observe,
  create: async (engine, spec) => ({ id: spec.workspaceId, observed: await put(engine, spec), adopted: false }),
  update: (engine, _id, spec) => put(engine, spec),
  delete: async (engine, id) => {
    if ((await observe(engine, id)) !== undefined) await engine.retentionPolicies.delete({ kind: "workspace", id })
  },
}

async function observe(engine: Engine, id: string): Promise<ObservedDataRetentionPolicy | undefined> {
  try {
    const { rule, target } = await engine.retentionPolicies.get({ kind: "workspace", id })
    // An inherited policy of the organization is not this resource.
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

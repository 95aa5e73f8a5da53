import type * as pulumi from "@pulumi/pulumi"
import type { ObservedDataRetentionPolicy } from "@chancery/engine/declared"
import type { LifeArgs } from "./life-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type DeclaredResource } from "./shell.ts"

export interface DataRetentionPolicyArgs extends LifeArgs {
  /** Workspace of the policy. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Age in days after which old states and configurations are deleted. Default: never. */
  deleteOlderThanDays?: pulumi.Input<number | null>
}

/** Outputs of a data retention policy. */
export interface DataRetentionPolicyState extends Resolved<Omit<DataRetentionPolicyArgs, keyof LifeArgs>> {}

/** Retention of old states and configurations of a workspace (self-hosted edition only). Its id is that of the workspace. */
export const DataRetentionPolicy: DeclaredResource<DataRetentionPolicyArgs, DataRetentionPolicyState> =
  declaredResource<DataRetentionPolicyArgs, DataRetentionPolicyState, ObservedDataRetentionPolicy>({
    kind: "dataRetentionPolicy",
    outputs: ["workspaceId", "deleteOlderThanDays"],
  })
export type DataRetentionPolicy = InstanceType<typeof DataRetentionPolicy>

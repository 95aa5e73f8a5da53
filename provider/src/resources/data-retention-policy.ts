// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface DataRetentionPolicyArgs extends LifecycleArgs {
  /** Workspace of the policy. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Age in days after which old states and configurations are deleted. Default: never. */
  deleteOlderThanDays?: pulumi.Input<number | null>
}

/** Outputs of a data retention policy. */
export interface DataRetentionPolicyState {
  /** Workspace of the policy. */
  readonly workspaceId: string
  /** Age in days after which old states and configurations are deleted. */
  readonly deleteOlderThanDays: number | null
}

/** Retention of old states and configurations of a workspace (self-hosted edition only). Its id is that of the workspace. */
export const DataRetentionPolicy: ResourceClass<DataRetentionPolicyArgs, DataRetentionPolicyState> = declaredResource<DataRetentionPolicyArgs, DataRetentionPolicyState>({
  kind: "dataRetentionPolicy",
  outputs: ["workspaceId", "deleteOlderThanDays"],
})
export type DataRetentionPolicy = InstanceType<typeof DataRetentionPolicy>

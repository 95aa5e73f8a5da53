import type * as pulumi from "@pulumi/pulumi"
import type { ObservedDataRetentionPolicy } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface DataRetentionPolicyArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** Kept for ever when left out. */
  deleteOlderThanDays?: pulumi.Input<number | null>
}

export type DataRetentionPolicyState = ObservedDataRetentionPolicy

/**
 * How long the data of old states and configurations of a workspace is kept (specification 4.11); of the self-hosted edition.
 * Its id is that of the workspace.
 */
export const DataRetentionPolicy = declaredResource<DataRetentionPolicyArgs, DataRetentionPolicyState>({
  kind: "dataRetentionPolicy",
  outputs: ["workspaceId", "deleteOlderThanDays"],
})
export type DataRetentionPolicy = InstanceType<typeof DataRetentionPolicy>

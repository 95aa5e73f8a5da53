import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "./lifecycle-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type ResourceClass } from "./pulumi-resource.ts"

export interface WorkspaceLockArgs extends LifecycleArgs {
  /** Workspace to lock. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Reason shown to other users. Changing it forces replacement: the workspace is unlocked and locked again. */
  reason?: pulumi.Input<string>
  /** Unlock on destroy even if another user holds the lock; discards a pending state. Requires administrator rights. */
  forceUnlock?: pulumi.Input<boolean>
}

/** Outputs of a workspace lock. */
export interface WorkspaceLockState extends Resolved<Omit<WorkspaceLockArgs, keyof LifecycleArgs>> {}

/** Locks a workspace on behalf of the owner of the token. Its id is that of the workspace. */
export const WorkspaceLock: ResourceClass<WorkspaceLockArgs, WorkspaceLockState> = declaredResource<
  WorkspaceLockArgs,
  WorkspaceLockState
>({
  kind: "workspaceLock",
  outputs: ["workspaceId", "reason", "forceUnlock"],
})
export type WorkspaceLock = InstanceType<typeof WorkspaceLock>

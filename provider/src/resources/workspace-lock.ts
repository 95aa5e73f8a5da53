// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface WorkspaceLockArgs extends LifecycleArgs {
  /** Workspace to lock. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Reason shown to other users. A change unlocks the workspace and locks it again. Changing it forces replacement. */
  reason?: pulumi.Input<string>
  /**
   * Unlock on destroy even if another user holds the lock; discards a pending state. Requires administrator rights. Default:
   * false.
   */
  forceUnlock?: pulumi.Input<boolean>
}

/** Outputs of a workspace lock. */
export interface WorkspaceLockState {
  /** Workspace to lock. */
  readonly workspaceId: string
  /** Reason shown to other users. A change unlocks the workspace and locks it again. */
  readonly reason: string
  /** Unlock on destroy even if another user holds the lock; discards a pending state. Requires administrator rights. */
  readonly forceUnlock: boolean
}

/** Locks a workspace on behalf of the owner of the token. Its id is that of the workspace. */
export const WorkspaceLock: ResourceClass<WorkspaceLockArgs, WorkspaceLockState> = declaredResource<WorkspaceLockArgs, WorkspaceLockState>({
  kind: "workspaceLock",
  outputs: ["workspaceId", "reason", "forceUnlock"],
})
export type WorkspaceLock = InstanceType<typeof WorkspaceLock>

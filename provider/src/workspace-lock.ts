import type * as pulumi from "@pulumi/pulumi"
import type { ObservedWorkspaceLock } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface WorkspaceLockArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** Another one opens the lock and closes it again. */
  reason?: pulumi.Input<string>
  /** Opens the lock at the end whoever holds it, and discards a state that is on its way; for administrators. */
  forceUnlock?: pulumi.Input<boolean>
}

export type WorkspaceLockState = ObservedWorkspaceLock

/** That a workspace is locked, by the owner of the token (specification 4.7). Its id is that of the workspace. */
export const WorkspaceLock = declaredResource<WorkspaceLockArgs, WorkspaceLockState>({
  kind: "workspaceLock",
  outputs: ["workspaceId", "reason", "forceUnlock"],
})
export type WorkspaceLock = InstanceType<typeof WorkspaceLock>

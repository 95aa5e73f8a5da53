import type * as pulumi from "@pulumi/pulumi"
import type { ObservedWorkspaceLock } from "@chancery/engine/declared"
import type { LifeArgs } from "./life-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type DeclaredResource } from "./shell.ts"

export interface WorkspaceLockArgs extends LifeArgs {
  /** Workspace to lock. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Reason shown to other users. Changing it forces replacement: the workspace is unlocked and locked again. */
  reason?: pulumi.Input<string>
  /** Unlock on destroy even if another user holds the lock; discards a pending state. Requires administrator rights. */
  forceUnlock?: pulumi.Input<boolean>
}

/** Outputs of a workspace lock. */
export interface WorkspaceLockState extends Resolved<Omit<WorkspaceLockArgs, keyof LifeArgs>> {}

/** Locks a workspace on behalf of the owner of the token. Its id is that of the workspace. */
export const WorkspaceLock: DeclaredResource<WorkspaceLockArgs, WorkspaceLockState> = declaredResource<
  WorkspaceLockArgs,
  WorkspaceLockState,
  ObservedWorkspaceLock
>({
  kind: "workspaceLock",
  outputs: ["workspaceId", "reason", "forceUnlock"],
})
export type WorkspaceLock = InstanceType<typeof WorkspaceLock>

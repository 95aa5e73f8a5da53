// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface RemoteStateConsumersArgs extends LifecycleArgs {
  /** Workspace whose state is read; its `globalRemoteState` must be false. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Workspaces of the same organization that may read the state, in any order. */
  consumerIds: pulumi.Input<pulumi.Input<string>[]>
  /**
   * `additive`: keep consumers that are not listed. `exclusive`: remove them; the token must see all of them. Default:
   * `additive`.
   */
  mode?: pulumi.Input<"additive" | "exclusive">
}

/** Outputs of the remote state consumers of a workspace. */
export interface RemoteStateConsumersState {
  /** Workspace whose state is read; its `globalRemoteState` must be false. */
  readonly workspaceId: string
  /** Workspaces of the same organization that may read the state, in any order. */
  readonly consumerIds: string[]
  /** `additive`: keep consumers that are not listed. `exclusive`: remove them; the token must see all of them. */
  readonly mode: "additive" | "exclusive"
}

/** Workspaces that may read the state of a workspace. Its id is that of the workspace. */
export const RemoteStateConsumers: ResourceClass<RemoteStateConsumersArgs, RemoteStateConsumersState> = declaredResource<RemoteStateConsumersArgs, RemoteStateConsumersState>({
  kind: "remoteStateConsumers",
  outputs: ["workspaceId", "consumerIds", "mode"],
})
export type RemoteStateConsumers = InstanceType<typeof RemoteStateConsumers>

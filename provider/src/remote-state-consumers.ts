import type * as pulumi from "@pulumi/pulumi"
import type { ObservedRemoteStateConsumers } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface RemoteStateConsumersArgs extends LifeArgs {
  /** Whose state is read; with `globalRemoteState` false. Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** Workspaces of the same organization; their order says nothing. */
  consumerIds: pulumi.Input<pulumi.Input<string>[]>
  /** `additive` (when left out): these and any others. `exclusive`: these and no others, for who may see all of them. */
  mode?: pulumi.Input<"additive" | "exclusive">
}

export type RemoteStateConsumersState = ObservedRemoteStateConsumers

/** Who may read the state of a workspace (specification 4.9). Its id is that of the workspace. */
export const RemoteStateConsumers = declaredResource<RemoteStateConsumersArgs, RemoteStateConsumersState>({
  kind: "remoteStateConsumers",
  outputs: ["workspaceId", "consumerIds", "mode"],
})
export type RemoteStateConsumers = InstanceType<typeof RemoteStateConsumers>

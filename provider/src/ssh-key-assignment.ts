import type * as pulumi from "@pulumi/pulumi"
import type { SshKeyAssignmentSpec } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface SshKeyAssignmentArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  sshKeyId: pulumi.Input<string>
}

export type SshKeyAssignmentState = SshKeyAssignmentSpec

/** The SSH key that a workspace fetches modules with (specification 4.8). Its id is that of the workspace. */
export const SshKeyAssignment = declaredResource<SshKeyAssignmentArgs, SshKeyAssignmentState>({
  kind: "sshKeyAssignment",
  outputs: ["workspaceId", "sshKeyId"],
})
export type SshKeyAssignment = InstanceType<typeof SshKeyAssignment>

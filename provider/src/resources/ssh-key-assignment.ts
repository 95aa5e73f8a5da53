// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface SshKeyAssignmentArgs extends LifecycleArgs {
  /** Workspace that uses the key. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** SSH key of the organization (`sshkey-…`) that fetches private modules. */
  sshKeyId: pulumi.Input<string>
}

/** Outputs of an SSH key assignment. */
export interface SshKeyAssignmentState {
  /** Workspace that uses the key. */
  readonly workspaceId: string
  /** SSH key of the organization (`sshkey-…`) that fetches private modules. */
  readonly sshKeyId: string
}

/** The SSH key with which a workspace fetches modules. Its id is that of the workspace. */
export const SshKeyAssignment: ResourceClass<SshKeyAssignmentArgs, SshKeyAssignmentState> = declaredResource<SshKeyAssignmentArgs, SshKeyAssignmentState>({
  kind: "sshKeyAssignment",
  outputs: ["workspaceId", "sshKeyId"],
})
export type SshKeyAssignment = InstanceType<typeof SshKeyAssignment>

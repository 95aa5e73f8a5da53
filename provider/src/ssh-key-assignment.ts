import type * as pulumi from "@pulumi/pulumi"
import type { SshKeyAssignmentSpec } from "@chancery/engine/declared"
import type { LifeArgs } from "./life-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type DeclaredResource } from "./shell.ts"

export interface SshKeyAssignmentArgs extends LifeArgs {
  /** Workspace that uses the key. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** SSH key of the organization (`sshkey-…`) that fetches private modules. */
  sshKeyId: pulumi.Input<string>
}

/** Outputs of an SSH key assignment. */
export interface SshKeyAssignmentState extends Resolved<Omit<SshKeyAssignmentArgs, keyof LifeArgs>> {}

/** The SSH key with which a workspace fetches modules. Its id is that of the workspace. */
export const SshKeyAssignment: DeclaredResource<SshKeyAssignmentArgs, SshKeyAssignmentState> = declaredResource<
  SshKeyAssignmentArgs,
  SshKeyAssignmentState,
  SshKeyAssignmentSpec
>({
  kind: "sshKeyAssignment",
  outputs: ["workspaceId", "sshKeyId"],
})
export type SshKeyAssignment = InstanceType<typeof SshKeyAssignment>

import type * as pulumi from "@pulumi/pulumi"
import type { SshKeyAssignmentSpec } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { DeclaredResource } from "./shell.ts"

export interface SshKeyAssignmentArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  sshKeyId: pulumi.Input<string>
}

export type SshKeyAssignmentState = SshKeyAssignmentSpec

/** The SSH key that a workspace fetches modules with (specification 4.8). Its id is that of the workspace. */
export class SshKeyAssignment extends DeclaredResource {
  declare readonly workspaceId: pulumi.Output<string>
  declare readonly sshKeyId: pulumi.Output<string>

  constructor(name: string, args: SshKeyAssignmentArgs, options?: pulumi.CustomResourceOptions) {
    const outputs = ["workspaceId", "sshKeyId"] satisfies (keyof SshKeyAssignmentState)[]
    super("sshKeyAssignment", name, outputs, args, options)
  }
}

// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface ProjectArgs extends LifecycleArgs {
  /** Organization that owns the project. Default: `chancery:organization`. Changing it forces replacement. */
  organization?: pulumi.Input<string>
  /** Name: letters, digits, spaces, `-` and `_`, at most 40 characters. Default: the resource's name in the program. */
  name?: pulumi.Input<string>
  /** Description for people. */
  description?: pulumi.Input<string>
  /** Inactivity before its workspaces are destroyed: 1 to 9999 days or hours, such as `14d` or `24h`. Default: never. */
  autoDestroyActivityDuration?: pulumi.Input<string | null>
  /** Execution mode that its workspaces inherit. Default: that of the organization. */
  defaultExecutionMode?: pulumi.Input<"remote" | "local" | "agent" | null>
  /** Agent pool that its workspaces inherit. Requires `defaultExecutionMode: "agent"`. */
  defaultAgentPoolId?: pulumi.Input<string | null>
  /** Every key-value tag of the project, at most ten; its workspaces inherit them. Tags of other owners stay. */
  tagBindings?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** Adopt an existing project of this name. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a project: every setting in force. */
export interface ProjectState extends Adopted {
  /** Organization that owns the project. */
  readonly organization: string
  /** Name: letters, digits, spaces, `-` and `_`, at most 40 characters. */
  readonly name: string
  /** Description for people. */
  readonly description: string
  /** Inactivity before its workspaces are destroyed: 1 to 9999 days or hours, such as `14d` or `24h`. */
  readonly autoDestroyActivityDuration: string | null
  /** Execution mode that its workspaces inherit. */
  readonly defaultExecutionMode: "remote" | "local" | "agent" | null
  /** Agent pool that its workspaces inherit. Requires `defaultExecutionMode: "agent"`. */
  readonly defaultAgentPoolId: string | null
  /** Every key-value tag of the project, at most ten; its workspaces inherit them. Tags of other owners stay. */
  readonly tagBindings?: Readonly<Record<string, string>>
}

/** A group of workspaces and the settings they inherit. Its id is `prj-…`. A project with workspaces is not deleted. */
export const Project: ResourceClass<ProjectArgs, ProjectState> = declaredResource<ProjectArgs, ProjectState>({
  kind: "project",
  outputs: ["organization", "name", "description", "autoDestroyActivityDuration", "defaultExecutionMode", "defaultAgentPoolId", "tagBindings", "adopted"],
  named: "name",
})
export type Project = InstanceType<typeof Project>

import type * as pulumi from "@pulumi/pulumi"
import type { ObservedProject } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface ProjectArgs extends LifeArgs {
  /** `chancery:organization` when left out. Another one makes another project. */
  organization?: pulumi.Input<string>
  /** The resource's name in the program when left out. At most 40 letters, digits, spaces, `-` and `_`. Another one renames it. */
  name?: pulumi.Input<string>
  description?: pulumi.Input<string>
  /** For its workspaces, 1 to 9999 hours or days without activity: `14d`, `24h`. */
  autoDestroyActivityDuration?: pulumi.Input<string | null>
  /** That of the organization when left out. */
  defaultExecutionMode?: pulumi.Input<"remote" | "local" | "agent" | null>
  /** With `defaultExecutionMode: "agent"` only. */
  defaultAgentPoolId?: pulumi.Input<string | null>
  /** All key-value tags it has, at most ten, but for those that other owners hold; its workspaces inherit them. */
  tagBindings?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** Takes over a project of this name that is there already; it is left there at the end, unless `deletionPolicy` says more. */
  adopt?: pulumi.Input<boolean>
}

export type ProjectState = ObservedProject & { readonly adopted: boolean }

/** A group of workspaces, and what they inherit. Its id is `prj-…`. One that holds workspaces is not deleted. */
export const Project = declaredResource<ProjectArgs, ProjectState>({
  kind: "project",
  outputs: [
    "organization",
    "name",
    "description",
    "autoDestroyActivityDuration",
    "defaultExecutionMode",
    "defaultAgentPoolId",
    "tagBindings",
    "adopted",
  ],
  named: "name",
})
export type Project = InstanceType<typeof Project>

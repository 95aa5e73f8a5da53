// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface WorkspaceTagsArgs extends LifecycleArgs {
  /** Workspace that has the tags. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Flat tags, in any order and letter case. */
  tags: pulumi.Input<pulumi.Input<string>[]>
  /**
   * `additive`: keep tags that are not listed. `exclusive`: remove them, except those of other owners (docs/tag-owners.md).
   * Default: `additive`.
   */
  mode?: pulumi.Input<"additive" | "exclusive">
}

/** Outputs of the flat tags of a workspace. */
export interface WorkspaceTagsState {
  /** Workspace that has the tags. */
  readonly workspaceId: string
  /** Flat tags, in any order and letter case. */
  readonly tags: string[]
  /** `additive`: keep tags that are not listed. `exclusive`: remove them, except those of other owners (docs/tag-owners.md). */
  readonly mode: "additive" | "exclusive"
}

/** Flat tags of one workspace. Its id is that of the workspace. */
export const WorkspaceTags: ResourceClass<WorkspaceTagsArgs, WorkspaceTagsState> = declaredResource<WorkspaceTagsArgs, WorkspaceTagsState>({
  kind: "workspaceTags",
  outputs: ["workspaceId", "tags", "mode"],
})
export type WorkspaceTags = InstanceType<typeof WorkspaceTags>

import type * as pulumi from "@pulumi/pulumi"
import type { ObservedWorkspaceTags } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface WorkspaceTagsArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** Flat tags; their order and the case of their letters say nothing. */
  tags: pulumi.Input<pulumi.Input<string>[]>
  /**
   * `additive` (when left out): these and any others. `exclusive`: these, those that other owners hold (docs/tag-owners.md), and
   * no others.
   */
  mode?: pulumi.Input<"additive" | "exclusive">
}

export type WorkspaceTagsState = ObservedWorkspaceTags

/** Flat tags of one workspace (specification 4.10). Its id is that of the workspace. */
export const WorkspaceTags = declaredResource<WorkspaceTagsArgs, WorkspaceTagsState>({
  kind: "workspaceTags",
  outputs: ["workspaceId", "tags", "mode"],
})
export type WorkspaceTags = InstanceType<typeof WorkspaceTags>

import type * as pulumi from "@pulumi/pulumi"
import type { ObservedTagBindings } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface TagBindingsArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** At most ten on a workspace, each with a value; a tag without one is a flat tag (`WorkspaceTags`). */
  bindings: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /**
   * `additive` (when left out): these and any others. `exclusive`: these, those that other owners hold (docs/tag-owners.md), and
   * no others.
   */
  mode?: pulumi.Input<"additive" | "exclusive">
}

export type TagBindingsState = ObservedTagBindings

/** Key-value tags of one workspace (specification 4.10). Its id is that of the workspace. */
export const TagBindings = declaredResource<TagBindingsArgs, TagBindingsState>({
  kind: "tagBindings",
  outputs: ["workspaceId", "bindings", "mode"],
})
export type TagBindings = InstanceType<typeof TagBindings>

// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface TagBindingsArgs extends LifecycleArgs {
  /** Workspace that has the tags. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Values by key; at most ten on a workspace. A tag without a value is a flat tag (`WorkspaceTags`). */
  bindings: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /**
   * `additive`: keep bindings that are not listed. `exclusive`: remove them, except those of other owners (docs/tag-owners.md).
   * Default: `additive`.
   */
  mode?: pulumi.Input<"additive" | "exclusive">
}

/** Outputs of the key-value tags of a workspace. */
export interface TagBindingsState {
  /** Workspace that has the tags. */
  readonly workspaceId: string
  /** Values by key; at most ten on a workspace. A tag without a value is a flat tag (`WorkspaceTags`). */
  readonly bindings: Readonly<Record<string, string>>
  /**
   * `additive`: keep bindings that are not listed. `exclusive`: remove them, except those of other owners (docs/tag-owners.md).
   */
  readonly mode: "additive" | "exclusive"
}

/** Key-value tags of one workspace. Its id is that of the workspace. */
export const TagBindings: ResourceClass<TagBindingsArgs, TagBindingsState> = declaredResource<TagBindingsArgs, TagBindingsState>({
  kind: "tagBindings",
  outputs: ["workspaceId", "bindings", "mode"],
})
export type TagBindings = InstanceType<typeof TagBindings>

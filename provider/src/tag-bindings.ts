import type * as pulumi from "@pulumi/pulumi"
import type { ObservedTagBindings } from "@chancery/engine/declared"
import type { LifeArgs } from "./life-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type DeclaredResource } from "./shell.ts"

export interface TagBindingsArgs extends LifeArgs {
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
export interface TagBindingsState extends Resolved<Omit<TagBindingsArgs, keyof LifeArgs>> {}

/** Key-value tags of one workspace. Its id is that of the workspace. */
export const TagBindings: DeclaredResource<TagBindingsArgs, TagBindingsState> = declaredResource<
  TagBindingsArgs,
  TagBindingsState,
  ObservedTagBindings
>({
  kind: "tagBindings",
  outputs: ["workspaceId", "bindings", "mode"],
})
export type TagBindings = InstanceType<typeof TagBindings>

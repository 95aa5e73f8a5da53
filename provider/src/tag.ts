import type * as pulumi from "@pulumi/pulumi"
import type { ObservedTag } from "@chancery/engine/declared"
import type { Adopted, LifeArgs } from "./life-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type DeclaredResource } from "./shell.ts"

export interface TagArgs extends LifeArgs {
  /** Organization that owns the tag. Default: `chancery:organization`. Changing it forces replacement. */
  organization?: pulumi.Input<string>
  /** Name of the tag. Default: the resource's name in the program. Changing it forces replacement. */
  name?: pulumi.Input<string>
  /** Workspaces to tag; others may have the tag as well. A tag that leaves its last workspace is replaced by a new one. */
  workspaceIds?: pulumi.Input<pulumi.Input<string>[]>
  /** Adopt an existing tag of this name. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a tag. */
export interface TagState extends Resolved<Omit<TagArgs, keyof LifeArgs | "adopt">>, Adopted {}

/** A flat tag of an organization. `deletionPolicy: "safe"` keeps it while other workspaces have it. Its id is `tag-…`. */
export const Tag: DeclaredResource<TagArgs, TagState> = declaredResource<TagArgs, TagState, ObservedTag>({
  kind: "tag",
  outputs: ["organization", "name", "workspaceIds", "adopted"],
  named: "name",
})
export type Tag = InstanceType<typeof Tag>

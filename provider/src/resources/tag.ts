// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface TagArgs extends LifecycleArgs {
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
export interface TagState extends Adopted {
  /** Organization that owns the tag. */
  readonly organization: string
  /** Name of the tag. */
  readonly name: string
  /** Workspaces to tag; others may have the tag as well. A tag that leaves its last workspace is replaced by a new one. */
  readonly workspaceIds: string[]
}

/** A flat tag of an organization. `deletionPolicy: "safe"` keeps it while other workspaces have it. Its id is `tag-…`. */
export const Tag: ResourceClass<TagArgs, TagState> = declaredResource<TagArgs, TagState>({
  kind: "tag",
  outputs: ["organization", "name", "workspaceIds", "adopted"],
  named: "name",
})
export type Tag = InstanceType<typeof Tag>

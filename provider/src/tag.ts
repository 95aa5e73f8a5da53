import type * as pulumi from "@pulumi/pulumi"
import type { ObservedTag } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface TagArgs extends LifeArgs {
  /** `chancery:organization` when left out. Another one makes another tag. */
  organization?: pulumi.Input<string>
  /** The resource's name in the program when left out. Another one makes another tag. */
  name?: pulumi.Input<string>
  /** Workspaces that carry it; others may carry it as well. A tag that leaves its last workspace makes way for a new one. */
  workspaceIds?: pulumi.Input<pulumi.Input<string>[]>
  /** Takes over a tag that something carries already; it is left there at the end, unless `deletionPolicy` says more. */
  adopt?: pulumi.Input<boolean>
}

export type TagState = ObservedTag & { readonly adopted: boolean }

/** A flat tag of an organization (specification 4.1). `deletionPolicy: "safe"` keeps it while others carry it. */
export const Tag = declaredResource<TagArgs, TagState>({
  kind: "tag",
  outputs: ["organization", "name", "workspaceIds", "adopted"],
  named: "name",
})
export type Tag = InstanceType<typeof Tag>

import type * as pulumi from "@pulumi/pulumi"
import type { ObservedTagBindings } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { DeclaredResource } from "./shell.ts"

export interface TagBindingsArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** At most ten on a workspace, each with a value; a tag without one is a flat tag (`WorkspaceTags`). */
  bindings: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** `additive` (when left out): these and any others. `exclusive`: these and no others. */
  mode?: pulumi.Input<"additive" | "exclusive">
}

export type TagBindingsState = ObservedTagBindings

/** Key-value tags of one workspace (specification 4.10). Its id is that of the workspace. */
export class TagBindings extends DeclaredResource {
  declare readonly workspaceId: pulumi.Output<string>
  declare readonly bindings: pulumi.Output<Readonly<Record<string, string>>>
  declare readonly mode: pulumi.Output<"additive" | "exclusive">

  constructor(name: string, args: TagBindingsArgs, options?: pulumi.CustomResourceOptions) {
    const outputs = ["workspaceId", "bindings", "mode"] satisfies (keyof TagBindingsState)[]
    super("tagBindings", name, outputs, args, options)
  }
}

import type * as pulumi from "@pulumi/pulumi"
import type { ObservedWorkspaceTags } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { DeclaredResource } from "./shell.ts"

export interface WorkspaceTagsArgs extends LifeArgs {
  /** Another one makes another resource. */
  workspaceId: pulumi.Input<string>
  /** Flat tags; their order and the case of their letters say nothing. */
  tags: pulumi.Input<pulumi.Input<string>[]>
  /** `additive` (when left out): these and any others. `exclusive`: these and no others. */
  mode?: pulumi.Input<"additive" | "exclusive">
}

export type WorkspaceTagsState = ObservedWorkspaceTags

/** Flat tags of one workspace (specification 4.10). Its id is that of the workspace. */
export class WorkspaceTags extends DeclaredResource {
  declare readonly workspaceId: pulumi.Output<string>
  declare readonly tags: pulumi.Output<readonly string[]>
  declare readonly mode: pulumi.Output<"additive" | "exclusive">

  constructor(name: string, args: WorkspaceTagsArgs, options?: pulumi.CustomResourceOptions) {
    const outputs = ["workspaceId", "tags", "mode"] satisfies (keyof WorkspaceTagsState)[]
    super("workspaceTags", name, outputs, args, options)
  }
}

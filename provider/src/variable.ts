import type * as pulumi from "@pulumi/pulumi"
import type { ObservedVariable } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource } from "./shell.ts"

export interface VariableArgs extends LifeArgs {
  /** Another one makes another variable. */
  workspaceId: pulumi.Input<string>
  /** At most 128 characters; the workspace has each once in a category. */
  key: pulumi.Input<string>
  /** For the infrastructure tool, or for its environment. */
  category: pulumi.Input<"terraform" | "env">
  /** At most 256 KiB; empty in a new one. A secret in the state where the variable is sensitive. */
  value?: pulumi.Input<string>
  /** At most 512 characters. */
  description?: pulumi.Input<string | null>
  /** The value is an expression of the tool's language, and no plain text. */
  hcl?: pulumi.Input<boolean>
  /** Nobody reads the value again. Once it is, another variable takes its place to be readable. */
  sensitive?: pulumi.Input<boolean>
  /** Takes over a variable of this key that is there already; it is left there at the end, unless `deletionPolicy` says more. */
  adopt?: pulumi.Input<boolean>
}

/** `value` is null for a sensitive one that somebody else has changed, until the next `up`. */
export type VariableState = ObservedVariable & { readonly adopted: boolean }

const outputs = [
  "workspaceId",
  "key",
  "category",
  "value",
  "description",
  "hcl",
  "sensitive",
  "versionId",
  "adopted",
] as const satisfies readonly (keyof VariableState)[]

/** A variable of a workspace (workspace facts 1.10). Its id is `WORKSPACE_ID/VARIABLE_ID`. */
export const Variable = declaredResource<VariableArgs, VariableState>({
  kind: "variable",
  outputs,
  secretInputs: secretsOf,
  secretOutputs: secretsOf,
})
export type Variable = InstanceType<typeof Variable>

/** What is not known yet may turn out to be sensitive. */
function secretsOf({ sensitive }: VariableArgs): readonly "value"[] {
  return sensitive === undefined || sensitive === false ? [] : ["value"]
}

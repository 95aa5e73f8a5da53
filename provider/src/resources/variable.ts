// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

export interface VariableArgs extends LifecycleArgs {
  /** Workspace of the variable. Changing it forces replacement. */
  workspaceId: pulumi.Input<string>
  /** Name, at most 128 characters, unique in its category. */
  key: pulumi.Input<string>
  /** `terraform` for an input variable of the configuration, `env` for an environment variable. */
  category: pulumi.Input<"terraform" | "env">
  /** Value, at most 256 KiB. A secret in the state of the stack if `sensitive` is true. Default: empty. */
  value?: pulumi.Input<string>
  /** Description for people, at most 512 characters. */
  description?: pulumi.Input<string | null>
  /** Read the value as an HCL expression instead of a string. Default: false. */
  hcl?: pulumi.Input<boolean>
  /** Never return the value from the API. Changing it back to false forces replacement. Default: false. */
  sensitive?: pulumi.Input<boolean>
  /** Adopt an existing variable of this key. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a variable. */
export interface VariableState extends Adopted {
  /** Workspace of the variable. */
  readonly workspaceId: string
  /** Name, at most 128 characters, unique in its category. */
  readonly key: string
  /** `terraform` for an input variable of the configuration, `env` for an environment variable. */
  readonly category: "terraform" | "env"
  /** Read the value as an HCL expression instead of a string. */
  readonly hcl: boolean
  /** Never return the value from the API. Changing it back to false forces replacement. */
  readonly sensitive: boolean
  /** Value. Null for a sensitive variable that was changed elsewhere or read with `get`. */
  readonly value: string | null
  /** Description for people. Empty if there is none. */
  readonly description: string
  /** Version, which changes with every update. */
  readonly versionId: string
}

/** A variable of a workspace. Its id is `WORKSPACE_ID/VARIABLE_ID`. */
export const Variable: ResourceClass<VariableArgs, VariableState> = declaredResource<VariableArgs, VariableState>({
  kind: "variable",
  outputs: ["workspaceId", "key", "category", "hcl", "sensitive", "value", "description", "versionId", "adopted"],
  secretInputs: { value: { member: "sensitive", values: [undefined, false] } },
  secretOutputs: { value: { member: "sensitive", values: [undefined, false] } },
})
export type Variable = InstanceType<typeof Variable>

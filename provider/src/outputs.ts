import type * as pulumi from "@pulumi/pulumi"

/** The members of a resource whose state this is. */
export type OutputsOf<State> = { readonly [Name in keyof State]-?: pulumi.Output<State[Name]> }

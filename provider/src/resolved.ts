import type * as pulumi from "@pulumi/pulumi"

/** Arguments as outputs: resolved values, none left out. */
export type Resolved<Args> = { readonly [Name in keyof Args]-?: Exclude<pulumi.Unwrap<Args[Name]>, undefined> }

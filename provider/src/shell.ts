// How a program hands a resource to Pulumi: a type token for ever, and in place of code the address of code.
import * as pulumi from "@pulumi/pulumi"
import { originMaximum } from "@chancery/engine/managed"
import type { KindName } from "./kinds.ts"

/** It stands in every state, twice: no code, only where to find it. */
export const providerText = (kind: KindName): string =>
  `exports.handler=()=>require("@chancery/pulumi/provider").v1.${kind};`

export const typeToken = (kind: KindName): string =>
  `pulumi-nodejs:dynamic/chancery:${kind.charAt(0).toUpperCase()}${kind.slice(1)}`

/** Outputs have to be named beforehand, or they never resolve. */
export function registration(
  kind: KindName,
  logicalName: string,
  outputs: readonly string[],
  args: object,
): pulumi.Inputs {
  const unset = Object.fromEntries(outputs.map((name) => [name, undefined]))
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))
  return { ...unset, ...given, __marker: markerOf(logicalName), __provider: providerText(kind) }
}

/** Encrypts outputs in the state that no secret input has the name of. */
export const withSecretOutputs = (
  names: readonly string[],
  options: pulumi.CustomResourceOptions = {},
): pulumi.CustomResourceOptions => pulumi.mergeOptions(options, { additionalSecretOutputs: [...names] })

/** Who declares it, so that a creation whose answer was lost is known again. */
const markerOf = (logicalName: string): string =>
  `pulumi:${pulumi.getOrganization()}/${pulumi.getProject()}/${pulumi.getStack()}/${logicalName}`.slice(
    0,
    originMaximum,
  )

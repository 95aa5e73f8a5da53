// How a program hands a resource to Pulumi: a type token for ever, and in place of code the address of code.
import * as pulumi from "@pulumi/pulumi"
import { originMaximum } from "@chancery/engine/managed"
import type { KindName } from "./kinds.ts"

/** It stands in every state, twice: no code, only where to find it. */
export const providerText = (kind: KindName): string =>
  `exports.handler=()=>require("@chancery/pulumi/provider").v1.${kind};`

export const typeToken = (kind: KindName): string =>
  `pulumi-nodejs:dynamic/chancery:${kind.charAt(0).toUpperCase()}${kind.slice(1)}`

/** What a program makes: a kind by its name, and outputs, which have to be named beforehand or they never resolve. */
export abstract class DeclaredResource extends pulumi.CustomResource {
  constructor(
    kind: KindName,
    name: string,
    outputs: readonly string[],
    args: object,
    options?: pulumi.CustomResourceOptions,
  ) {
    // The SDK notes a stack with each of four promises of each output, which takes a program of many resources half of its
    // time. Where a resource stands in the program it finds out with a limit of its own.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      super(typeToken(kind), name, registration(kind, name, outputs, args), options)
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }
}

function registration(kind: KindName, logicalName: string, outputs: readonly string[], args: object): pulumi.Inputs {
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

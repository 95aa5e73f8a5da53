// How a program hands a resource to Pulumi: a type token for ever, and in place of code the address of code.
import * as pulumi from "@pulumi/pulumi"
import type { KindName, NamingMember } from "../lifecycle/kinds.ts"
import { foundMember } from "./legacy-state.ts"
import { writtenMarker } from "../lifecycle/creation-id.ts"
import { omittedSettings } from "../lifecycle/defaults.ts"

/** It stands in every state, twice: no code, only where to find it. */
export const providerText = (kind: KindName): string =>
  `exports.handler=()=>require("@chancery/pulumi/provider").v1.${kind};`

export const typeToken = (kind: KindName): string =>
  `pulumi-nodejs:dynamic/chancery:${kind.charAt(0).toUpperCase()}${kind.slice(1)}`

interface Declaration<Args, State> {
  readonly kind: KindName
  /** Outputs have to be named beforehand, or they never resolve. */
  readonly outputs: readonly (keyof State & string)[]
  /** The argument that is the resource's name in the program where it is left out. */
  readonly named?: keyof Args & NamingMember
  /** Arguments that are encrypted in the state. */
  readonly secretInputs?: Secrets
  /** Outputs that are encrypted in the state. */
  readonly secretOutputs?: Secrets
}

/** By the name of the member: always, or unless another argument has one of these values. An unknown value may be any. */
type Secrets = Readonly<Record<string, true | { readonly member: string; readonly values: readonly unknown[] }>>

const secretNames = (secrets: Secrets | undefined, args: object): readonly string[] =>
  Object.entries(secrets ?? {})
    .filter(([, rule]) => rule === true || !rule.values.includes((args as Record<string, unknown>)[rule.member]))
    .map(([name]) => name)

/** The arguments may be left out where none is required. */
type Given<Args> =
  Partial<Args> extends Args
    ? [args?: Args, options?: pulumi.CustomResourceOptions]
    : [args: Args, options?: pulumi.CustomResourceOptions]

/** A resource as programs hold it: the members of its state are outputs. */
export type ResourceOf<State> = pulumi.CustomResource & {
  readonly [Name in keyof State]-?: pulumi.Output<State[Name]>
}

/** Class of a resource: creates one, or reads an existing one with `get`. */
export interface ResourceClass<Args, State> {
  new (name: string, ...given: Given<Args>): ResourceOf<State>
  /** Reads an existing resource by its id, without managing it. */
  get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ResourceOf<State>
}

/** A class without another one above it: the SDK takes what called the first constructor after its own for the program. */
export function declaredResource<Args extends object, State extends object>(
  declaration: Declaration<Args, State>,
): ResourceClass<Args, State> {
  const { kind, secretOutputs } = declaration

  class Declared extends pulumi.CustomResource {
    static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): Declared {
      return new Declared(name, {}, { ...options, id })
    }

    constructor(name: string, args: Partial<Args> = {}, options: pulumi.CustomResourceOptions = {}) {
      const secrets = secretNames(secretOutputs, args)
      const all =
        secrets.length === 0 ? options : pulumi.mergeOptions(options, { additionalSecretOutputs: [...secrets] })
      // The SDK keeps a stack trace for each of four promises of each output. Declaring 1,000 workspaces under the SDK's mocks takes 5.2 s
      // of processor time with them, and 2.8 s without. The trace of the resource itself has a limit of its own.
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      try {
        super(typeToken(kind), name, registration(declaration, name, args, options.id !== undefined), all)
      } finally {
        Error.stackTraceLimit = stackTraceLimit
      }
      if (kind === "workspace") assertNamedState(this, name)
    }
  }

  Object.defineProperty(Declared, "name", { value: typeToken(kind).split(":").at(-1) })
  if (kind === "workspace")
    for (const [name, value] of Object.entries(omittedSettings)) fillOmitted(Declared.prototype, name, value)
  return Declared as unknown as ResourceClass<Args, State>
}

/**
 * Stops the program at a legacy state, whose outputs would be undefined. `up` rewrites such a state first, unless `--target` leaves
 * its resource out.
 */
function assertNamedState(resource: pulumi.CustomResource, name: string): void {
  const { [foundMember]: output } = resource as { readonly [foundMember]?: pulumi.Output<unknown> }
  output?.apply((found) => {
    if (found !== undefined)
      throw new Error(
        `the state of ${name} is of an earlier build; run pulumi up or pulumi refresh without --target once`,
      )
  })
}

interface Registered {
  readonly createdAt: pulumi.Output<string | undefined>
}
type SdkOutput = pulumi.Output<unknown> & { readonly isKnown: Promise<boolean> }
const sdkOutputs = new WeakMap<object, Record<string, SdkOutput>>()

/**
 * Gives an output the value that a state leaves out. The SDK has no value for it, and none in a preview either, where `createdAt`
 * says that the state is there.
 */
function fillOmitted(prototype: object, name: string, value: unknown): void {
  Object.defineProperty(prototype, name, {
    get(this: Registered) {
      const output = sdkOutputs.get(this)?.[name]
      return this.createdAt.apply(async () =>
        (await output?.isKnown) === true ? output?.apply((found) => (found === undefined ? value : found)) : value,
      )
    },
    set(this: Registered, output: SdkOutput) {
      sdkOutputs.set(this, Object.assign(sdkOutputs.get(this) ?? {}, { [name]: output }))
    },
  })
}

function registration<Args extends object, State>(
  { kind, outputs, named, secretInputs }: Declaration<Args, State>,
  logicalName: string,
  args: Partial<Args>,
  isRead: boolean,
): pulumi.Inputs {
  const names = kind === "workspace" ? [...outputs, foundMember] : outputs
  const unset = Object.fromEntries(names.map((name) => [name, undefined]))
  const secrets = secretNames(secretInputs, args)
  const given = Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, secrets.includes(name) ? pulumi.secret(value) : value]),
  )
  // The id of an existing resource names it.
  const byName = named === undefined || isRead ? {} : { [named]: logicalName }
  const inputs = { ...byName, ...given }
  return { ...unset, ...inputs, __marker: markerOf(logicalName, inputs), __provider: providerText(kind) }
}

const markerOf = (logicalName: string, inputs: pulumi.Inputs): string =>
  writtenMarker({ organization: pulumi.getOrganization(), stack: pulumi.getStack() }, logicalName, inputs)

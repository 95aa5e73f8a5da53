// Registers resources with Pulumi: the type token, which must never change, and a reference to the provider's code in place of serialized
// code.
import * as pulumi from "@pulumi/pulumi"
import type { KindName, NamingMember } from "../lifecycle/kind-name.ts"
import { foundMember } from "./legacy-state.ts"
import { formatCreationId } from "../lifecycle/creation-id.ts"
import { omittedSettings } from "../lifecycle/defaults.ts"

/** Returns the code that each state contains twice. It only loads the provider from the installed package. */
export const providerText = (kind: KindName): string =>
  `exports.handler=()=>require("@chancery/pulumi/provider").v1.${kind};`

export const typeToken = (kind: KindName): string =>
  `pulumi-nodejs:dynamic/chancery:${kind.charAt(0).toUpperCase()}${kind.slice(1)}`

interface Declaration<Args, State> {
  readonly kind: KindName
  /** Names of the outputs. Outputs that are not listed never resolve. */
  readonly outputs: readonly (keyof State & string)[]
  /** Argument whose default is the resource's name in the program. */
  readonly named?: keyof Args & NamingMember
  /** Arguments that are encrypted in the state. */
  readonly secretInputs?: Secrets
  /** Outputs that are encrypted in the state. */
  readonly secretOutputs?: Secrets
}

/** Secret members by name: always, or unless another argument has one of these values. An unknown value counts as secret. */
type Secrets = Readonly<Record<string, true | { readonly member: string; readonly values: readonly unknown[] }>>

const secretNames = (secrets: Secrets | undefined, args: object): readonly string[] =>
  Object.entries(secrets ?? {})
    .filter(([, rule]) => rule === true || !rule.values.includes((args as Record<string, unknown>)[rule.member]))
    .map(([name]) => name)

/** Constructor arguments. `args` is optional if no argument is required. */
type Given<Args> =
  Partial<Args> extends Args
    ? [args?: Args, options?: pulumi.CustomResourceOptions]
    : [args: Args, options?: pulumi.CustomResourceOptions]

/** Instance of a resource. The members of its state are outputs. */
export type ResourceOf<State> = pulumi.CustomResource & {
  readonly [Name in keyof State]-?: pulumi.Output<State[Name]>
}

/** Class of a resource: creates one, or reads an existing one with `get`. */
export interface ResourceClass<Args, State> {
  new (name: string, ...given: Given<Args>): ResourceOf<State>
  /** Reads an existing resource by its id, without managing it. */
  get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): ResourceOf<State>
}

/**
 * Returns the class of a resource. It must have no intermediate base class: the SDK takes the caller of the outermost constructor for the
 * program.
 */
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
      // of processor time with them, and 2.8 s without. The trace of the resource itself has a separate limit.
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
 * Throws for a legacy state, whose outputs would be undefined. `up` rewrites such states first, unless `--target` excludes the resource.
 */
function assertNamedState(resource: pulumi.CustomResource, name: string): void {
  const { [foundMember]: output } = resource as { readonly [foundMember]?: pulumi.Output<unknown> }
  output?.apply((found) => {
    if (found !== undefined)
      throw new Error(
        `the state of ${name} was written by an earlier version; run pulumi up or pulumi refresh once without --target`,
      )
  })
}

interface Registered {
  readonly createdAt: pulumi.Output<string | undefined>
}
type SdkOutput = pulumi.Output<unknown> & { readonly isKnown: Promise<boolean> }
const sdkOutputs = new WeakMap<object, Record<string, SdkOutput>>()

/**
 * Gives an output the value that the state omits. The SDK has no value for it. In a preview it has none either; there, a known `createdAt`
 * shows that the state exists.
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
  // A resource that is read is identified by its id, not by its name.
  const byName = named === undefined || isRead ? {} : { [named]: logicalName }
  const inputs = { ...byName, ...given }
  return { ...unset, ...inputs, __marker: creationIdOf(logicalName, inputs), __provider: providerText(kind) }
}

const creationIdOf = (logicalName: string, inputs: pulumi.Inputs): string =>
  formatCreationId({ organization: pulumi.getOrganization(), stack: pulumi.getStack() }, logicalName, inputs)

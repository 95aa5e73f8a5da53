// The members of a declared resource: one table says everything about a field.
import type { z } from "zod"
import type { Fault } from "../core/errors.ts"
import type { Changes, Values } from "./values.ts"
import { differing, type SameValue } from "./same-value.ts"
import { type MemberType, unknownMember } from "./types.ts"

export interface Documentation {
  /** Sentences. They do not repeat the default. */
  readonly description: string
  /** Value of a new resource. A member that is no longer declared returns to it; without one it stays as it is. */
  readonly default?: unknown
  /** In words, if it is no value. */
  readonly defaultText?: string
  readonly example?: unknown
  /** The only edition that has it. */
  readonly edition?: "hosted"
}

export interface Member<T> extends MemberType<T>, Documentation {
  readonly isRequired: boolean
  /** A change makes another resource. */
  readonly forcesReplacement?: true
  /** Programs may leave it out: the value comes from the name of the resource in the program, or from the configuration. */
  readonly providedBy?: "name" | "configuration"
  /** Encrypted in states: always, or unless another member has one of these values. */
  readonly secret?: true | SecretUnless
  /** In no output. */
  readonly isHidden?: true
  /** Outputs have it only if the program declares it. */
  readonly isOutputIfDeclared?: true
}
export interface SecretUnless {
  readonly member: string
  readonly values: readonly unknown[]
}
export interface Output extends Documentation {
  readonly schema: z.ZodType
  readonly secret?: true | SecretUnless
}

type Facts<T> = Partial<Omit<Member<T>, "schema" | "description" | "isRequired">>
export type Optional<T> = Member<T> & { readonly isRequired: false }
export type Required<T> = Member<T> & { readonly isRequired: true }

export const member = <T>(type: MemberType<T>, description: string, facts: Facts<T> = {}): Optional<T> => ({
  ...type,
  description,
  ...facts,
  isRequired: false,
})
export const required = <T>(type: MemberType<T>, description: string, facts: Facts<T> = {}): Required<T> => ({
  ...type,
  description,
  ...facts,
  isRequired: true,
})
export const output = (
  schema: z.ZodType,
  description: string,
  facts: Partial<Omit<Output, "schema">> = {},
): Output => ({ schema, description, ...facts })

export type Members = Readonly<Record<string, Member<unknown>>>
type ValueOf<M> = M extends { readonly schema: z.ZodType<infer T> } ? T : never

/** The spec that such members make. */
export type SpecOf<M> = {
  readonly [Name in keyof M as M[Name] extends Required<unknown> ? Name : never]: ValueOf<M[Name]>
} & { readonly [Name in keyof M as M[Name] extends Required<unknown> ? never : Name]?: ValueOf<M[Name]> | undefined }

/** Every member as it is in force. */
export type InForce<M> = { readonly [Name in keyof M]: ValueOf<M[Name]> }

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Faults of the members' types. Members in `open` have no value yet, and are not missed. */
export function typeFaults(members: Members, spec: Values, open: ReadonlySet<string>): readonly Fault[] {
  const faults = Object.entries(members).flatMap(([name, { schema, isRequired }]) => {
    const value: unknown = Object.hasOwn(spec, name) ? spec[name] : undefined
    if (value === undefined && !isRequired) return []
    const parsed = schema.safeParse(value, { reportInput: true })
    return parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, [name]))
  })
  const unknown = Object.keys(spec)
    .filter((name) => !Object.hasOwn(members, name))
    .map((name) => ({ field: [name], detail: unknownMember(name, Object.keys(members)) }))
  return [...faults, ...unknown].filter(({ field }) => !open.has(String(field[0])))
}

type Field = readonly (string | number)[]

function faultsOf(issue: z.core.$ZodIssue, at: Field): readonly { field: Field; detail: string }[] {
  const field = [...at, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))]
  if (issue.code === "unrecognized_keys") {
    const details = issue.message.split("\n")
    return issue.keys.map((key, index) => ({ field: [...field, key], detail: details[index] ?? issue.message }))
  }
  // The object among the alternatives of a union, if there is one.
  if (issue.code === "invalid_union" && isObject(issue.input))
    return (issue.errors.at(-1) ?? []).flatMap((inner) => faultsOf(inner, field))
  return [{ field, detail: `${field.join(".")} ${issue.message}` }]
}

/**
 * Returns `validate` of a resource: the faults of types, and those that `rules` find in the other members. `unsaid` are members without
 * a value that a rule could judge.
 */
export const validator =
  <Spec extends object>(
    members: Members,
    rules: (known: Partial<Spec>, unsaid: ReadonlySet<string>, spec: Values) => readonly Fault[] = () => [],
  ) =>
  (spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] => {
    const faults = typeFaults(members, spec, open)
    const unsaid = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
    const known = Object.fromEntries(Object.entries(spec).filter(([name]) => !unsaid.has(name)))
    return [
      ...faults,
      ...rules(known as Partial<Spec>, unsaid, spec).filter(({ field }) => !unsaid.has(String(field?.[0]))),
    ]
  }

const valuesOf = <K extends keyof Member<unknown>>(members: Members, key: K): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, one]) => (key in one ? [[name, one[key]]] : [])))

export const rulesOf = (members: Members): Readonly<Record<string, SameValue>> =>
  valuesOf(members, "same") as Readonly<Record<string, SameValue>>

export const defaultsOf = (members: Members): Values => valuesOf(members, "default")

/** Returns the spec with the defaults of dropped members, which return to them. */
export const withDefaults = <Spec extends object>(members: Members, spec: Spec, dropped: readonly string[]): Spec => ({
  ...Object.fromEntries(Object.entries(defaultsOf(members)).filter(([name]) => dropped.includes(name))),
  ...spec,
})

/** Returns what differs, and what of it forces replacement. */
export function diffMembers<Spec extends object>(
  members: Members,
  spec: Spec,
  observed: object,
  dropped: readonly string[] = [],
): Changes {
  const changed = differing(withDefaults(members, spec, dropped), observed, rulesOf(members) as never)
  return { changed, mustReplace: changed.filter((name) => members[name]?.forcesReplacement === true) }
}

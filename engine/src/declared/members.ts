// Members of a declared resource. One table holds all facts about a member.
import type { z } from "zod"
import type { Fault } from "../core/errors.ts"
import type { Changes, Values } from "./values.ts"
import { differing, type SameValue } from "./same-value.ts"
import { type MemberType, unknownMember } from "./types.ts"

export interface Documentation {
  /** Sentences that do not repeat the default. */
  readonly description: string
  /** Value in a new resource. A member that is no longer declared returns to it; without a default it keeps its value. */
  readonly default?: unknown
  /** Default in words, if it is not a fixed value. */
  readonly defaultText?: string
  readonly example?: unknown
  /** The only edition that supports the member. */
  readonly edition?: "hosted"
}

export interface Member<T> extends MemberType<T>, Documentation {
  readonly isRequired: boolean
  /** A change replaces the resource. */
  readonly forcesReplacement?: true
  /** Programs may leave the member out: its value comes from the name of the resource in the program, or from the configuration. */
  readonly providedBy?: "name" | "configuration"
  /** Encrypted in Pulumi states: always, or unless another member has one of these values. */
  readonly secret?: true | SecretUnless
  /** Not an output. */
  readonly isHidden?: true
  /** An output only if the program declares the member. */
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

/** Spec type of these members. */
export type SpecOf<M> = {
  readonly [Name in keyof M as M[Name] extends Required<unknown> ? Name : never]: ValueOf<M[Name]>
} & { readonly [Name in keyof M as M[Name] extends Required<unknown> ? never : Name]?: ValueOf<M[Name]> | undefined }

/** Type of an observation: each member with the value in force. */
export type InForce<M> = { readonly [Name in keyof M]: ValueOf<M[Name]> }

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns faults of the types of members. Members in `open` have no value yet and may be missing. */
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
  // If the value is an object, its faults are those of the object alternative of the union, which is the last.
  if (issue.code === "invalid_union" && isObject(issue.input))
    return (issue.errors.at(-1) ?? []).flatMap((inner) => faultsOf(inner, field))
  return [{ field, detail: `${field.join(".")} ${issue.message}` }]
}

/**
 * Returns `validate` of a resource: faults of types, and faults that `rules` find in the other members. `unsaid` are members without a
 * value that a rule could check.
 */
export const validator =
  <Spec extends object>(
    members: Members,
    rules: (known: Partial<Spec>, unchecked: ReadonlySet<string>, spec: Values) => readonly Fault[] = () => [],
  ) =>
  (spec: Values, open: ReadonlySet<string> = new Set()): readonly Fault[] => {
    const faults = typeFaults(members, spec, open)
    const unchecked = new Set([...open, ...faults.map(({ field }) => String(field?.[0]))])
    const known = Object.fromEntries(Object.entries(spec).filter(([name]) => !unchecked.has(name)))
    return [
      ...faults,
      ...rules(known as Partial<Spec>, unchecked, spec).filter(({ field }) => !unchecked.has(String(field?.[0]))),
    ]
  }

const valuesOf = <K extends keyof Member<unknown>>(members: Members, key: K): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).flatMap(([name, one]) => (key in one ? [[name, one[key]]] : [])))

export const rulesOf = (members: Members): Readonly<Record<string, SameValue>> =>
  valuesOf(members, "same") as Readonly<Record<string, SameValue>>

export const defaultsOf = (members: Members): Values => valuesOf(members, "default")

/** Returns the spec with default values for dropped members. */
export const withDefaults = <Spec extends object>(members: Members, spec: Spec, dropped: readonly string[]): Spec => ({
  ...Object.fromEntries(Object.entries(defaultsOf(members)).filter(([name]) => dropped.includes(name))),
  ...spec,
})

/** Returns the members that differ, and those of them that force replacement. */
export function diffMembers<Spec extends object>(
  members: Members,
  spec: Spec,
  observed: object,
  dropped: readonly string[] = [],
): Changes {
  const changed = differing(withDefaults(members, spec, dropped), observed, rulesOf(members) as never)
  return { changed, mustReplace: changed.filter((name) => members[name]?.forcesReplacement === true) }
}

// Rules across several values, each in two forms: CEL for the API server, and TypeScript for use without one. Both forms are written next
// to each other in the schema, and a test compares them.
import { z } from "zod"

export interface Rule<Value> {
  /** CEL expression for `x-kubernetes-validations`. */
  readonly rule: string
  /** Message for users; names the field. */
  readonly message: string
  /** Path of the faulty field, relative to the schema with the rule, such as `.executionMode`. */
  readonly fieldPath?: string
  /**
   * Rule in TypeScript, equivalent to the CEL one. Transition rules get the previous value as `before` and are checked at changes only.
   * Both values are parsed, with defaults filled in.
   */
  readonly holds: (value: Value, before: Value) => boolean
  /** True if the rule compares with `before`, which is `oldSelf` in CEL. */
  readonly transition?: boolean
}

/** Attaches rules to the schema. */
export const ruled = <Schema extends z.ZodType>(schema: Schema, ...rules: readonly Rule<z.output<Schema>>[]): Schema =>
  schema.meta({ ...schema.meta(), "x-kubernetes-validations": rules })

/** Returns rules that a member never changes after creation, not even between absent and present. For members of objects. */
export const immutable = <Value extends object>(...names: readonly (keyof Value & string)[]): readonly Rule<Value>[] =>
  names.map((name) => ({
    rule: `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`,
    message: `${name} cannot be changed`,
    fieldPath: `.${name}`,
    transition: true,
    holds: (value, before) => JSON.stringify(value[name]) === JSON.stringify(before[name]),
  }))

/** Broken rule, or value that the schema rejects. */
export interface SpecFault {
  /** Path from the root of the object, such as `spec.executionMode`. */
  readonly field: string
  readonly message: string
}

/** Returns all faults that the API server would find in a spec, and in its change from `before`. */
export function specFaults(kind: { readonly spec: z.ZodType }, spec: unknown, before?: unknown): readonly SpecFault[] {
  const parsed = kind.spec.safeParse(spec)
  if (!parsed.success) {
    return parsed.error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => ({ field: fieldOf([...issue.path, key]), message: "is not a known field" }))
        : [{ field: fieldOf(issue.path), message: issue.message }],
    )
  }
  const old = before === undefined ? undefined : kind.spec.safeParse(before)
  return [...broken(kind.spec, parsed.data, old?.success === true ? old.data : undefined, ["spec"])]
}

const fieldOf = (path: readonly PropertyKey[]): string => ["spec", ...path].map(String).join(".")

function* broken(schema: z.ZodType, value: unknown, before: unknown, path: readonly string[]): Generator<SpecFault> {
  if (value === undefined) return
  for (const { holds, transition = false, fieldPath = "", message } of rulesOf(schema)) {
    if (transition && before === undefined) continue
    if (!holds(value, before)) yield { field: `${path.join(".")}${fieldPath}`, message }
  }
  const inner = innerOf(schema)
  if (inner !== undefined) yield* broken(inner, value, before, path)
  if (schema instanceof z.ZodObject) {
    const [now, old] = [value, before ?? {}] as Record<string, unknown>[]
    for (const [name, member] of Object.entries(schema.shape))
      yield* broken(member as z.ZodType, now?.[name], old?.[name], [...path, name])
  }
  // Items of a list are not matched with earlier items.
  if (schema instanceof z.ZodArray)
    for (const [index, item] of (value as readonly unknown[]).entries())
      yield* broken(schema.element as z.ZodType, item, undefined, [...path, String(index)])
  if (Array.isArray(value)) yield* repeated(schema, value, path)
}

/** Reports duplicate members of a set, and duplicate keys of a list of type `map`. */
function* repeated(schema: z.ZodType, items: readonly unknown[], path: readonly string[]): Generator<SpecFault> {
  const { "x-kubernetes-list-type": type, "x-kubernetes-list-map-keys": keys } = schema.meta() ?? {}
  if (type !== "set" && type !== "map") return
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const identity =
      type === "set" ? item : (keys as readonly string[]).map((key) => (item as Record<string, unknown>)[key])
    const text = JSON.stringify(identity)
    if (seen.has(text)) yield { field: [...path, String(index)].join("."), message: `is a duplicate: ${text}` }
    seen.add(text)
  }
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return schema.unwrap() as z.ZodType
  return undefined
}

const rulesOf = (schema: z.ZodType): readonly Rule<unknown>[] =>
  (schema.meta()?.["x-kubernetes-validations"] as readonly Rule<unknown>[] | undefined) ?? []

/** Returns the rules as members of a CustomResourceDefinition. */
export const celOf = (rules: readonly Rule<unknown>[]): readonly Readonly<Record<string, string>>[] =>
  rules.map(({ rule, message, fieldPath }) => ({ rule, message, ...(fieldPath === undefined ? {} : { fieldPath }) }))

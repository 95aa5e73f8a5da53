// Rules that no single value can break: as the apiserver checks them (CEL), and as they are checked where no apiserver is. Both
// stand side by side at the schema they are about, and a test holds them against each other.
import { z } from "zod"

export interface Rule<Value> {
  /** `x-kubernetes-validations`. */
  readonly rule: string
  /** Names the field. */
  readonly message: string
  /** Of the field that is to blame, seen from the schema with the rule: `.executionMode`. */
  readonly fieldPath?: string
  /**
   * The same rule. With `before` it is about a change, and is asked of changes only; both are as they were written, with
   * defaults filled in.
   */
  readonly holds: (value: Value, before: Value) => boolean
  /** Speaks of `before`, in CEL of `oldSelf`. */
  readonly transition?: boolean
}

/** The schema with rules on what it admits. */
export const ruled = <Schema extends z.ZodType>(schema: Schema, ...rules: readonly Rule<z.output<Schema>>[]): Schema =>
  schema.meta({ ...schema.meta(), "x-kubernetes-validations": rules })

/** Once it is written it stays, and so does that there is none. For members of an object. */
export const immutable = <Value extends object>(...names: readonly (keyof Value & string)[]): readonly Rule<Value>[] =>
  names.map((name) => ({
    rule: `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`,
    message: `${name} cannot be changed`,
    fieldPath: `.${name}`,
    transition: true,
    holds: (value, before) => JSON.stringify(value[name]) === JSON.stringify(before[name]),
  }))

/** A broken rule, or a value that the schema does not admit. */
export interface SpecFault {
  /** From the object's root: `spec.executionMode`. */
  readonly field: string
  readonly message: string
}

/** Everything that an apiserver would refuse of a spec, and of the change from `before` to it. */
export function specFaults(kind: { readonly spec: z.ZodType }, spec: unknown, before?: unknown): readonly SpecFault[] {
  const parsed = kind.spec.safeParse(spec)
  if (!parsed.success) {
    return parsed.error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => ({ field: fieldOf([...issue.path, key]), message: "is not known" }))
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
  // Members of a list have no earlier selves.
  if (schema instanceof z.ZodArray)
    for (const [index, item] of (value as readonly unknown[]).entries())
      yield* broken(schema.element as z.ZodType, item, undefined, [...path, String(index)])
  if (Array.isArray(value)) yield* repeated(schema, value, path)
}

/** A set has no member twice, and a list that is a map no two of the same keys. */
function* repeated(schema: z.ZodType, items: readonly unknown[], path: readonly string[]): Generator<SpecFault> {
  const { "x-kubernetes-list-type": type, "x-kubernetes-list-map-keys": keys } = schema.meta() ?? {}
  if (type !== "set" && type !== "map") return
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const identity =
      type === "set" ? item : (keys as readonly string[]).map((key) => (item as Record<string, unknown>)[key])
    const text = JSON.stringify(identity)
    if (seen.has(text)) yield { field: [...path, String(index)].join("."), message: `is there already: ${text}` }
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

/** As they stand in a definition. */
export const celOf = (rules: readonly Rule<unknown>[]): readonly Readonly<Record<string, string>>[] =>
  rules.map(({ rule, message, fieldPath }) => ({ rule, message, ...(fieldPath === undefined ? {} : { fieldPath }) }))

// Types of declared members: values of programs, their equality, and values of manifests if those are narrower. Texts of schema errors
// continue the name of the member: "must be a string".
import { z } from "zod"
import { formatDuration, formatInstant, parseDuration, parseInstant } from "../core/time.ts"
import { sameDuration, sameInstant, sameJson, sameSet, type SameValue } from "./same-value.ts"

export interface MemberType<T> {
  /** Values in programs. */
  readonly schema: z.ZodType<T>
  readonly same: SameValue
  /** Type of the field in the reference. */
  readonly label: string
  /** Values in manifests, which have bounds. Default: `schema`. */
  readonly manifest?: z.ZodType
  /** List type of the CRD: a set has distinct items, an atomic list is replaced as a whole, and items of a map have keys. */
  readonly listType?: ListType
  /** String format for which CRDs have a format of their own. */
  readonly form?: "duration" | "instant"
  /** Converts to the engine's value, if that differs. Null is the same in both. */
  toEngine?(this: void, value: T): unknown
  fromEngine?(this: void, value: unknown): unknown
}

export type ListType = "set" | "atomic" | { readonly keys: readonly string[] }

type Raw = { readonly input?: unknown }
const must = (rule: string) => ({ error: ({ input }: Raw) => (input === undefined ? "is required" : `must ${rule}`) })

const plainText = z.string(must("be a string"))
export const text: MemberType<string> = { schema: plainText, same: sameJson, label: "string" }
const filled = plainText.min(1, "must not be empty")
export const filledText: MemberType<string> = { ...text, schema: filled }
export const textUpTo = (length: number): MemberType<string> => ({
  ...text,
  schema: plainText.max(length, `must have at most ${length} characters`),
})
/** Returns a string type that manifests bound, and whose length in programs the server checks. */
export const boundedText = (length: number): MemberType<string> => ({ ...text, manifest: z.string().max(length) })

export const flag: MemberType<boolean> = {
  schema: z.boolean(must("be a boolean")),
  same: sameJson,
  label: "boolean",
}
export const number: MemberType<number> = { schema: z.number(must("be a number")), same: sameJson, label: "number" }
export const integer: MemberType<number> = {
  schema: z.int(must("be an integer")),
  same: sameJson,
  label: "integer",
}
export const integerBetween = (minimum: number, maximum: number): MemberType<number> => ({
  ...integer,
  manifest: z.int().min(minimum).max(maximum),
})

export const duration: MemberType<string> = {
  schema: plainText.refine((value) => parseDuration(value) !== undefined, {
    message: "must be a duration such as 30m, 720h or 90d",
  }),
  same: sameDuration,
  label: "duration",
  form: "duration",
  toEngine: parseDuration,
  fromEngine: (value: number) => formatDuration(value),
}
export const instant: MemberType<string> = {
  schema: plainText.refine((value) => parseInstant(value) !== undefined, {
    message: "must be a time such as 2030-01-31T08:00:00Z",
  }),
  same: sameInstant,
  label: "time (ISO 8601)",
  form: "instant",
  toEngine: parseInstant,
  fromEngine: (value: number) => formatInstant(value),
}

/** Returns `"a", "b" or "c"`. */
const alternatives = (choices: readonly string[]): string => {
  const quoted = choices.map((choice) => `"${choice}"`)
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ")
}
export const oneOf = <const T extends string>(...choices: readonly [T, ...T[]]): MemberType<T> => ({
  schema: z.enum(choices, must(`be ${alternatives(choices)}`)),
  same: sameJson,
  label: choices.map((choice) => `\`${choice}\``).join(" or "),
})

export const orNull = <T>(type: MemberType<T>): MemberType<T | null> => ({
  ...(type as MemberType<T | null>),
  schema: type.schema.nullable(),
  manifest: type.manifest ?? type.schema,
  label: `${type.label} or null`,
})

interface ListOptions<T> {
  readonly minimum?: number
  readonly maximum?: number
  readonly same?: SameValue
  readonly listType?: ListType | undefined
  readonly manifestItem?: z.ZodType
  readonly toEngine?: (value: T[]) => unknown
}

/** Returns a list type. By default it is a set, compared in any order. */
export const listOf = <T>(item: z.ZodType<T>, options: ListOptions<T> = {}): MemberType<T[]> => {
  const { minimum = 0, maximum = 200, same = sameSet, manifestItem = item, toEngine } = options
  const listType = "listType" in options ? options.listType : "set"
  const list = z.array(item, must("be an array"))
  return {
    schema: minimum === 0 ? list : list.min(minimum, "must not be empty"),
    same,
    label: "list",
    manifest: z.array(manifestItem).min(1).max(maximum),
    ...(listType === undefined ? {} : { listType }),
    ...(toEngine === undefined ? {} : { toEngine }),
  }
}

/** Returns a set of strings. `length` bounds each string in manifests. */
export const texts = (length = 256, options: ListOptions<string> = {}): MemberType<string[]> =>
  listOf(filled as z.ZodType<string>, { manifestItem: z.string().min(1).max(length), ...options })
/** Returns a list of strings whose order matters. */
export const orderedTexts = (length = 256, maximum = 20): MemberType<string[]> =>
  texts(length, { maximum, same: sameJson, listType: "atomic" })
export const choices = <const T extends string>(...all: readonly [T, ...T[]]): MemberType<T[]> =>
  listOf(oneOf(...all).schema, { minimum: 1, maximum: all.length })

export const textMap: MemberType<Record<string, string>> = {
  schema: z.record(z.string(), plainText, must("be an object of strings")),
  same: sameJson,
  label: "map",
}
/** Returns a map of strings that manifests bound, and whose entries in programs the server checks. */
export const boundedTextMap = (entries: number, length: number): MemberType<Record<string, string>> => ({
  ...textMap,
  manifest: z.record(z.string(), z.string().max(length)).meta({ maxProperties: entries }),
})

/** Returns a schema of an object with these members and no others. */
export const objectOf = <S extends z.ZodRawShape>(shape: S) => {
  const names = Object.keys(shape)
  return z.strictObject(shape, {
    error: ({ code, input, ...issue }) =>
      code === "unrecognized_keys"
        ? (issue as unknown as { readonly keys: readonly string[] }).keys
            .map((key) => unknownMember(key, names))
            .join("\n")
        : must("be an object").error({ input }),
  })
}

export const objectType = <T>(schema: z.ZodType<T>): MemberType<T> => ({ schema, same: sameJson, label: "object" })

export const textOr = <T>(object: z.ZodType<T>): z.ZodType<string | T> =>
  z.union([plainText, object], must("be a string or an object"))

export function unknownMember(key: string, known: readonly string[]): string {
  const meant = known.find((name) => name.toLowerCase() === key.toLowerCase().replaceAll(/[-_]/g, ""))
  return meant === undefined
    ? `${key} is not a known member; known members: ${known.join(", ")}`
    : `${key} is not a known member; use ${meant}`
}

// Types of parameters below `/v1` as codecs of zod. Vault clients send strings for all types, so decoding coerces.
import { z } from "zod"
import { commaSeparated, textProblem } from "../../core/text.ts"
import { parseNestedJson } from "../../core/json-bounds.ts"
import { formatDuration, formatInstant, type Instant, parseDuration, parseInstant, secondMs } from "../../core/time.ts"

/** Type names of Vault. */
export type FieldType = "string" | "bool" | "int" | "duration (sec)" | "slice" | "keypair" | "map"

/** JSON Schema of OpenAPI 3.0 by type, for path help. */
export const fieldSchemas: Readonly<Record<FieldType, Readonly<Record<string, unknown>>>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int: { type: "integer" },
  "duration (sec)": { type: "string", format: "duration" },
  slice: { type: "array", items: { type: "string" } },
  keypair: { type: "object", additionalProperties: { type: "string" } },
  map: { type: "object" },
}

export interface ParameterType<T> {
  /** Codec between the native dialect and the domain. Texts of custom issues begin with a verb: "must not …". */
  readonly schema: z.ZodType<T>
  /** Completes the sentence "must be …". */
  readonly expected: string
  /** Type name in path help. */
  readonly type: FieldType
  /** Item type of a list that is not of strings. */
  readonly items?: "integer"
  /** Encodes for Vault clients, if they read another form. */
  vault?(this: void, value: T): unknown
}

type Context = z.core.ParsePayload

/** Reports that the value has another type than expected, and ends the decoder. */
export function mistyped(context: Context, input: unknown): never {
  context.issues.push({ code: "invalid_value", values: [], input })
  return z.NEVER
}
export function problem(context: Context, input: unknown, message: string): never {
  context.issues.push({ code: "custom", message, input })
  return z.NEVER
}

const kibibyte = 1_024
/** Maximum length of certificates and CSRs; longer text is not parsed. */
const maxTextBytes = 64 * kibibyte
const maxList = 100_000

/** Returns a type of strings. Numbers and booleans are read as their text. */
export const textUpTo = (maximumBytes: number): ParameterType<string> => ({
  schema: z.codec(z.union([z.string(), z.number(), z.boolean()]), z.string(), {
    decode(value, context) {
      const text = String(value)
      if (text.length > maximumBytes || Buffer.byteLength(text) > maximumBytes)
        return problem(context, value, `must not be longer than ${maximumBytes / kibibyte} KiB`)
      const found = textProblem(text)
      return found === undefined ? text : problem(context, value, found)
    },
    encode: (value) => value,
  }),
  expected: "a string",
  type: "string",
})

export const text = textUpTo(maxTextBytes)

const truths = [true, 1, "1", "t", "T", "true", "True", "TRUE"] as const
const untruths = [false, 0, "0", "f", "F", "false", "False", "FALSE"] as const

export const flag: ParameterType<boolean> = {
  schema: z.codec(z.literal([...truths, ...untruths]), z.boolean(), {
    decode: (value) => truths.some((one) => one === value),
    encode: (value) => value,
  }),
  expected: "a boolean",
  type: "bool",
}

const digits = /^-?\d{1,16}$/

export const integer: ParameterType<number> = {
  schema: z.codec(z.union([z.int(), z.string().regex(digits)]), z.int(), {
    decode: (value) => Number(value),
    encode: (value) => value,
  }),
  expected: "an integer",
  type: "int",
}

function parseSeconds(value: string | number): number | undefined {
  if (value === "") return 0
  const isInteger = typeof value === "number" ? Number.isSafeInteger(value) : digits.test(value)
  const ms = isInteger ? Number(value) * secondMs : typeof value === "string" ? parseDuration(value) : undefined
  return ms !== undefined && ms >= 0 && Number.isSafeInteger(ms) ? ms : undefined
}

/** Milliseconds in the domain, a string in the native dialect, whole seconds in the vault dialect. */
export const duration: ParameterType<number> = {
  schema: z.codec(z.union([z.string(), z.number()]), z.number(), {
    decode: (value, context) => parseSeconds(value) ?? mistyped(context, value),
    encode: (value) => formatDuration(value),
  }),
  expected: 'a duration, such as 90, "90s", "1h30m" or "7d"',
  type: "duration (sec)",
  vault: (value) => Math.trunc(value / secondMs),
}

/** Duration that is a string in both dialects. */
export const durationText: ParameterType<number> = {
  schema: duration.schema,
  expected: duration.expected,
  type: duration.type,
}

/** Duration that is in seconds in both dialects. */
export const seconds: ParameterType<number> = {
  ...durationText,
  schema: z.codec(z.union([z.string(), z.number()]), z.number(), {
    decode: (value, context) => parseSeconds(value) ?? mistyped(context, value),
    encode: (value) => value / secondMs,
  }),
}

/** RFC 3339 with milliseconds. */
export const exactInstant: ParameterType<Instant> = {
  schema: z.codec(z.string(), z.number(), {
    decode: (value, context) => parseInstant(value) ?? mistyped(context, value),
    encode: (value) => formatInstant(value),
  }),
  expected: "an RFC 3339 timestamp",
  type: "string",
}

/** RFC 3339 in whole seconds; null if the string is empty. */
export const instant: ParameterType<Instant | null> = {
  schema: z.codec(z.string(), z.custom<Instant | null>(), {
    decode: (value, context) => (value === "" ? null : (parseInstant(value) ?? mistyped(context, value))),
    encode: (value) => (value === null ? "" : formatInstant(value).replace(/\.\d+Z$/, "Z")),
  }),
  expected: 'a timestamp, such as "2030-01-31T12:00:00Z"',
  type: "string",
}

/** Decodes items. Stops at the first item that cannot be read, however long the list is. */
function eachOf<T>(items: readonly unknown[], { schema }: ParameterType<T>, context: Context): readonly T[] {
  const read: T[] = []
  for (const item of items) {
    const parsed = schema.safeParse(item)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      return issue?.code === "custom" ? problem(context, item, issue.message) : mistyped(context, item)
    }
    read.push(parsed.data)
  }
  return read
}

/** Returns a type of lists of strings, or comma-separated strings. Blank entries between commas are dropped. */
export const textsUpTo = (maximumBytes: number): ParameterType<readonly string[]> => {
  const entry = textUpTo(maximumBytes)
  return {
    schema: z.codec(z.union([z.string(), z.array(z.unknown())]), z.custom<readonly string[]>(), {
      decode(value, context) {
        const items = typeof value === "string" ? commaSeparated(value) : value
        if (items.length <= maxList) return eachOf(items, entry, context)
        return problem(context, undefined, `must not have more than ${maxList} entries`)
      },
      encode: (value) => value as string[],
    }),
    expected: "an array of strings, or a comma-separated string",
    type: "slice",
  }
}

export const texts = textsUpTo(maxTextBytes)

/** List of integers, or comma-separated string. */
export const integers: ParameterType<readonly number[]> = {
  schema: z.codec(z.union([z.string(), z.number(), z.array(z.unknown())]), z.custom<readonly number[]>(), {
    decode(value, context) {
      const items = typeof value === "string" ? commaSeparated(value) : typeof value === "number" ? [value] : value
      return items.length > maxList ? mistyped(context, undefined) : eachOf(items, integer, context)
    },
    encode: (value) => value as number[],
  }),
  expected: "an array of integers, or a comma-separated string",
  type: "slice",
  items: "integer",
}

const splitAtEquals = (item: string): readonly [string, string] | undefined => {
  const at = item.indexOf("=")
  return at < 0 ? undefined : [item.slice(0, at), item.slice(at + 1)]
}

function entriesOf(value: unknown): readonly (readonly [string, unknown] | undefined)[] | undefined {
  if (Array.isArray(value)) return value.map((item) => (typeof item === "string" ? splitAtEquals(item) : undefined))
  if (typeof value === "object" && value !== null) return Object.entries(value)
  return typeof value === "string" ? commaSeparated(value).map(splitAtEquals) : undefined
}

/** Object of strings, list of `name=value`, or comma-separated string of them. */
export const stringMap: ParameterType<Readonly<Record<string, string>>> = {
  schema: z.codec(z.unknown(), z.custom<Readonly<Record<string, string>>>(), {
    decode(value, context) {
      const entries = entriesOf(value)
      if (entries === undefined || entries.length > maxList) return mistyped(context, value)
      const read: [string, string][] = []
      for (const [name, content] of entries.map((entry) => entry ?? ["", ""])) {
        const [key, item] = [text.schema.safeParse(name), text.schema.safeParse(content)]
        if (!key.success || !item.success || key.data === "") return mistyped(context, value)
        read.push([key.data, item.data])
      }
      return Object.fromEntries(read)
    },
    encode: (value) => value,
  }),
  expected: "an object of strings",
  type: "keypair",
}

/** Object of strings that is null if empty, as Vault clients expect. */
export const stringMapOrNull: ParameterType<Readonly<Record<string, string>>> = {
  ...stringMap,
  schema: z.codec(z.unknown(), stringMap.schema, {
    decode: (value) => value ?? {},
    encode: (value) => (Object.keys(value as object).length === 0 ? null : value),
  }),
}

/** Text of a JSON object of strings, or a `stringMap`. */
export const stringMapText: ParameterType<Readonly<Record<string, string>>> = {
  schema: z.codec(z.unknown(), stringMap.schema, {
    decode: (value) => (typeof value === "string" ? (parseNestedJson(value) ?? value) : value),
    encode: (value) => JSON.stringify(value),
  }),
  expected: "an object of strings, or a string with that object in JSON",
  type: "keypair",
}

/** Any value; its reader reports faults. */
export const anything: ParameterType<unknown> = { schema: z.unknown(), expected: "", type: "map" }

const alternatives = (words: readonly string[]): string => {
  const quoted = words.map((one) => `"${one}"`)
  return [quoted.slice(0, -1).join(", "), ...quoted.slice(-1)].filter((part) => part !== "").join(" or ")
}

export const enumOf = <Word extends string>(...words: readonly Word[]): ParameterType<Word> => ({
  schema: z.literal(words),
  expected: alternatives(words),
  type: "string",
})

/** Returns a type of lists of some of the words, or comma-separated strings. */
export const someOf = <Word extends string>(...words: readonly Word[]): ParameterType<readonly Word[]> => ({
  ...texts,
  schema: z.codec(texts.schema, z.custom<readonly Word[]>(), {
    decode(value, context) {
      const read = value.flatMap((one) => words.find((word) => word === one) ?? [])
      return read.length === value.length ? read : mistyped(context, value)
    },
    encode: (value) => value,
  }),
  expected: `any of ${alternatives(words)}`,
})

export const nullable = <T>({ schema, expected, type, vault }: ParameterType<T>): ParameterType<T | null> => ({
  schema: schema.nullable(),
  expected: `${expected}, or null`,
  type,
  ...(vault && { vault: (value: T | null) => (value === null ? null : vault(value)) }),
})

/** Returns a parameter type whose values are converted for the domain. */
export const mapped = <T, U>(
  { schema, expected, type, vault }: ParameterType<T>,
  decode: (value: T) => U,
  inverse: (value: U) => T,
): ParameterType<U> => ({
  schema: z.codec(schema, z.custom<U>(), { decode, encode: inverse }),
  expected,
  type,
  ...(vault && { vault: (value: U) => vault(inverse(value)) }),
})

/** Reads 0 as null. */
export const zeroAsNull = (type: ParameterType<number>): ParameterType<number | null> =>
  mapped(
    type,
    (value) => (value === 0 ? null : value),
    (value) => value ?? 0,
  )

/** Reads `from` as `to`. */
export const substitute = <T>(type: ParameterType<T>, from: unknown, to: unknown): ParameterType<T> => ({
  ...type,
  schema: z.codec(z.unknown(), type.schema, {
    decode: (value) => (value === from ? to : value),
    encode: (value) => value,
  }),
})

const isEmpty = (value: unknown): boolean =>
  [undefined, null, "", false, 0].some((one) => one === value) ||
  (typeof value === "object" && value !== null && Object.keys(value).length === 0)

/**
 * Returns a type for a parameter that this server does not have: only empty values are accepted. `detail` ends the sentence of the fault.
 */
export const rejected = <T>(type: ParameterType<T>, detail: string): ParameterType<T> => ({
  ...type,
  schema: z.codec(type.schema, z.custom<T>(), {
    decode: (value, context) => (isEmpty(value) ? value : problem(context, value, detail)),
    encode: (value) => value,
  }),
})

/** Returns a type for a parameter of Vault that this server does not have. */
export const unsupported = <T>(type: ParameterType<T>, remedy = ""): ParameterType<T> =>
  rejected(type, `is not supported${remedy}`)

/** String that is empty on the wire if it is null. */
export const textOrNull: ParameterType<string | null> = mapped(
  text,
  (value) => (value === "" ? null : value),
  (value) => value ?? "",
)

// Types of parameters below `/v1` as codecs of zod. Clients of this API send text for everything, so that reading coerces.
import { z } from "zod"
import { textProblem } from "../../core/text.ts"
import { formatDuration, formatInstant, type Instant, parseDuration, parseInstant, secondMs } from "../../core/time.ts"

/** Vault's names. */
export type FieldType = "string" | "bool" | "int" | "duration (sec)" | "slice" | "keypair" | "map"

export interface ParameterType<T> {
  /** Between the native dialect and the domain. Its custom issues begin with a verb: "must not …". */
  readonly schema: z.ZodType<T>
  /** Ends the sentence "must be …". */
  readonly expected: string
  /** As path help names it. */
  readonly type: FieldType
  /** Encodes for Vault clients, if they read another form. */
  readonly vault?: (value: T) => unknown
}

type Context = z.core.ParsePayload

/** Ends a decoder whose value is of another type than expected. */
export function mistyped(context: Context, input: unknown): never {
  context.issues.push({ code: "invalid_value", values: [], input })
  return z.NEVER
}
export function problem(context: Context, input: unknown, message: string): never {
  context.issues.push({ code: "custom", message, input })
  return z.NEVER
}

const kibibyte = 1_024
/** Certificates and requests for them; nothing longer is parsed. */
const textMaximumBytes = 64 * kibibyte
export const listMaximum = 100_000

/** Numbers and booleans are taken for their text. */
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
  expected: "text",
  type: "string",
})

export const text = textUpTo(textMaximumBytes)

const truths = [true, 1, "1", "t", "T", "true", "True", "TRUE"] as const
const untruths = [false, 0, "0", "f", "F", "false", "False", "FALSE"] as const

export const flag: ParameterType<boolean> = {
  schema: z.codec(z.literal([...truths, ...untruths]), z.boolean(), {
    decode: (value) => truths.some((one) => one === value),
    encode: (value) => value,
  }),
  expected: "true or false",
  type: "bool",
}

const digits = /^-?\d{1,16}$/

export const integer: ParameterType<number> = {
  schema: z.codec(z.union([z.int(), z.string().regex(digits)]), z.int(), {
    decode: (value) => Number(value),
    encode: (value) => value,
  }),
  expected: "a whole number",
  type: "int",
}

function parseSeconds(value: string | number): number | undefined {
  if (value === "") return 0
  const isInteger = typeof value === "number" ? Number.isSafeInteger(value) : digits.test(value)
  const ms = isInteger ? Number(value) * secondMs : typeof value === "string" ? parseDuration(value) : undefined
  return ms !== undefined && ms >= 0 && Number.isSafeInteger(ms) ? ms : undefined
}

/** A string in the native dialect, whole seconds in the vault dialect; milliseconds inside. */
export const duration: ParameterType<number> = {
  schema: z.codec(z.union([z.string(), z.number()]), z.number(), {
    decode: (value, context) => parseSeconds(value) ?? mistyped(context, value),
    encode: (value) => formatDuration(value),
  }),
  expected: 'a duration, such as 90, "90s", "1h30m" or "7d"',
  type: "duration (sec)",
  vault: (value) => Math.trunc(value / secondMs),
}

/** RFC 3339 in whole seconds; null if the text is empty. */
export const instant: ParameterType<Instant | null> = {
  schema: z.codec(z.string(), z.custom<Instant | null>(), {
    decode: (value, context) => (value === "" ? null : (parseInstant(value) ?? mistyped(context, value))),
    encode: (value) => (value === null ? "" : formatInstant(value).replace(/\.\d+Z$/, "Z")),
  }),
  expected: 'a time, such as "2030-01-31T12:00:00Z"',
  type: "string",
}

export const commaSeparated = (value: string): string[] =>
  value
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

/** Stops at the first item that cannot be read, however many there are. */
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

/** A list, or its text with commas between; what is blank between commas is no entry. */
export const textsUpTo = (maximumBytes: number): ParameterType<readonly string[]> => {
  const entry = textUpTo(maximumBytes)
  return {
    schema: z.codec(z.union([z.string(), z.array(z.unknown())]), z.custom<readonly string[]>(), {
      decode(value, context) {
        const items = typeof value === "string" ? commaSeparated(value) : value
        if (items.length <= listMaximum) return eachOf(items, entry, context)
        return problem(context, undefined, `must not have more than ${listMaximum} entries`)
      },
      encode: (value) => value as string[],
    }),
    expected: "a list of texts, or one text with commas between them",
    type: "slice",
  }
}

export const texts = textsUpTo(textMaximumBytes)

/** A list of whole numbers, or its text with commas between. */
export const integers: ParameterType<readonly number[]> = {
  schema: z.codec(z.union([z.string(), z.number(), z.array(z.unknown())]), z.custom<readonly number[]>(), {
    decode(value, context) {
      const items = typeof value === "string" ? commaSeparated(value) : typeof value === "number" ? [value] : value
      return items.length > listMaximum ? mistyped(context, undefined) : eachOf(items, integer, context)
    },
    encode: (value) => value as number[],
  }),
  expected: "a list of whole numbers",
  type: "slice",
}

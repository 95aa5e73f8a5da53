// Codecs of zod, between the wire and the domain. What zod cannot do is here: encode without checking.
import { z } from "zod"
import { formatInstant, type Instant, parseInstant } from "../core/time.ts"
import { dashed } from "./tfe/json-api/member-name.ts"

/** Description of a member or a parameter, for the reference, help and OpenAPI. */
export interface Documentation {
  /** Sentences. */
  readonly rule: string
  /** As on the wire. */
  readonly default?: unknown
  readonly example?: unknown
}

type Encode = (value: unknown) => unknown

/**
 * Returns the wire form of a value. Unlike `z.encode` it checks nothing: a stored value that a newer rule forbids can still be
 * read, and what a client sends is judged by the server.
 */
export function encode(schema: z.core.$ZodType, value: unknown): unknown {
  const known = encoders.get(schema)
  if (known !== undefined) return known(value)
  const encoder = encoderOf(schema)
  encoders.set(schema, encoder)
  return encoder(value)
}

/** Walking a schema for every value took four times as long for a list of teams (100: 9 ms). */
const encoders = new WeakMap<z.core.$ZodType, Encode>()

function encoderOf(schema: z.core.$ZodType): Encode {
  if (schema instanceof z.ZodCodec) {
    const { reverseTransform } = schema.def
    const [outer, inner] = [encoderOf(schema.def.out), encoderOf(schema.def.in)]
    return (value) => (value === undefined ? undefined : inner(reverseTransform(outer(value), { value, issues: [] })))
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodPrefault) {
    const inner = encoderOf(schema.def.innerType)
    return (value) => (value === undefined || value === null ? value : inner(value))
  }
  if (schema instanceof z.ZodArray) {
    const item = encoderOf(schema.def.element)
    return (value) => (Array.isArray(value) ? value.map(item) : value)
  }
  if (!(schema instanceof z.ZodObject)) return (value) => value
  const members = Object.entries(schema.def.shape).map(([name, member]) => [name, encoderOf(member)] as const)
  return (value) => {
    if (typeof value !== "object" || value === null) return value
    const values = value as Readonly<Record<string, unknown>>
    const encoded: Record<string, unknown> = {}
    for (const [name, encodeMember] of members) {
      const member = encodeMember(values[name])
      if (member !== undefined) encoded[name] = member
    }
    return encoded
  }
}

export const definedMembers = (members: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(members.filter(([, value]) => value !== undefined))

type ShapeOf<T> = { readonly [Name in keyof T]-?: z.ZodType<T[Name]> }

/**
 * An object inside an attribute: dashes on the wire, or `wireNames`, and camelCase in the domain. Members that are not declared are
 * dropped.
 */
export const dashedObject = <T extends object>(
  shape: ShapeOf<T>,
  wireNames: { readonly [Name in keyof T]?: string } = {},
): z.ZodType<T> => {
  const names = Object.keys(shape).map((name) => [name, wireNames[name as keyof T] ?? dashed(name)] as const)
  const wire = Object.fromEntries(names.map(([name, wireName]) => [wireName, shape[name as keyof T] as z.ZodType]))
  return z.codec(z.object(wire), z.custom<T>(), {
    decode: (members) => definedMembers(names.map(([name, wireName]) => [name, members[wireName]])) as T,
    encode: (value) =>
      Object.fromEntries(names.map(([name, wireName]) => [wireName, (value as Record<string, unknown>)[name]])),
  })
}

const shapeOf = (names: readonly string[], schema: z.ZodType): object =>
  Object.fromEntries(names.map((name) => [name, schema]))

/** Booleans by name. */
export const flags = <Name extends string>(
  names: readonly Name[],
  wireNames: { readonly [name in Name]?: string } = {},
) => dashedObject(shapeOf(names, z.boolean()) as ShapeOf<{ readonly [name in Name]: boolean }>, wireNames)

/** Some of them. */
export const someFlags = <Name extends string>(names: readonly Name[]) =>
  dashedObject(shapeOf(names, z.boolean().optional()) as ShapeOf<{ readonly [name in Name]?: boolean }>)

/** RFC 3339 on the wire; `problem` is the end of the fault's sentence. */
const instantOr = (problem: string) =>
  z.codec(z.string().meta({ format: "date-time" }), z.custom<Instant>(), {
    decode(text, context) {
      const parsed = parseInstant(text)
      if (parsed !== undefined) return parsed
      context.issues.push({ code: "custom", message: problem, input: text })
      return z.NEVER
    },
    // A client may pass on a text that it was given; the server judges it.
    encode: (value) => (typeof value === "number" ? formatInstant(value) : value),
  })
export const instant = instantOr("a timestamp")
export const instantInput = instantOr("must be an ISO 8601 timestamp with a time zone")

/** For answers: an absent member is null in the domain. */
export const absentAsNull = <T>(schema: z.ZodType<T>) =>
  z.codec(schema.optional(), z.custom<T | null>(), {
    decode: (value) => value ?? null,
    encode: (value) => value ?? undefined,
  })

/** For requests: null or an absent member is this value. */
export const orDefault = <T, const D>(schema: z.ZodType<T>, value: D) =>
  z.codec(schema.nullish(), z.custom<T | D>(), { decode: (sent) => sent ?? value, encode: (given) => given as T })

/** For requests: null is the same as an absent member. */
export const nullAsAbsent = <T>(schema: z.ZodType<T>) =>
  z.codec(schema.nullable(), z.custom<T | undefined>(), {
    decode: (value) => value ?? undefined,
    encode: (value) => value ?? null,
  })

/** For requests: null is the empty string. */
export const nullAsEmpty = (schema: z.ZodType<string>) =>
  z.codec(schema.nullable(), z.custom<string>(), { decode: (value) => value ?? "", encode: (value) => value })

/** For requests: the empty string is null. */
export const emptyAsNull = (schema: z.ZodType<string>) =>
  z.codec(schema.nullable(), z.custom<string | null>(), {
    decode: (value) => (value === "" ? null : value),
    encode: (value) => value,
  })

/** For answers: the empty string is null on the wire. */
export const nullIfEmpty = z.codec(z.string().nullable(), z.custom<string>(), {
  decode: (value) => value ?? "",
  encode: (value) => (value === "" ? null : value),
})

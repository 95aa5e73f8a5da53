// Codecs of zod between wire and domain. This file adds what zod lacks: encoding without checks.
import { z } from "zod"
import { formatInstant, type Instant, parseInstant } from "../core/time.ts"
import { dashed } from "./tfe/json-api/member-name.ts"

/** Documentation of a member or a parameter, for the reference, help and OpenAPI. */
export interface Documentation {
  /** One or more sentences. */
  readonly rule: string
  /** Default in its wire form. */
  readonly default?: unknown
  readonly example?: unknown
}

type Encode = (value: unknown) => unknown

/**
 * Returns the wire form of a value. Unlike `z.encode`, it does not validate: stored values that a newer rule forbids must stay readable,
 * and the server judges the input of clients.
 */
export function encode(schema: z.core.$ZodType, value: unknown): unknown {
  const known = encoders.get(schema)
  if (known !== undefined) return known(value)
  const encoder = encoderOf(schema)
  encoders.set(schema, encoder)
  return encoder(value)
}

/** Encoders by schema. Walking a schema for every value took four times as long for a list of teams (100: 9 ms). */
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
 * Returns a codec for an object inside an attribute. Members have camelCase names in the domain, and dashed names or `wireNames` on the
 * wire. Undeclared members are dropped.
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

/** Returns a codec for an object of required booleans. */
export const flags = <Name extends string>(
  names: readonly Name[],
  wireNames: { readonly [name in Name]?: string } = {},
) => dashedObject(shapeOf(names, z.boolean()) as ShapeOf<{ readonly [name in Name]: boolean }>, wireNames)

/** Returns a codec for an object of optional booleans. */
export const someFlags = <Name extends string>(names: readonly Name[]) =>
  dashedObject(shapeOf(names, z.boolean().optional()) as ShapeOf<{ readonly [name in Name]?: boolean }>)

/** Returns a codec for RFC 3339 timestamps. `problem` ends the sentence of the fault. */
const instantOr = (problem: string) =>
  z.codec(z.string().meta({ format: "date-time" }), z.custom<Instant>(), {
    decode(text, context) {
      const parsed = parseInstant(text)
      if (parsed !== undefined) return parsed
      context.issues.push({ code: "custom", message: problem, input: text })
      return z.NEVER
    },
    // A client may pass on text that it received; the server judges it.
    encode: (value) => (typeof value === "number" ? formatInstant(value) : value),
  })
export const instant = instantOr("a timestamp")
export const instantInput = instantOr("must be an ISO 8601 timestamp with a time zone")

/** Answers only: an absent member is null in the domain. */
export const absentAsNull = <T>(schema: z.ZodType<T>) =>
  z.codec(schema.optional(), z.custom<T | null>(), {
    decode: (value) => value ?? null,
    encode: (value) => value ?? undefined,
  })

/** Requests only: null or an absent member becomes this value. */
export const orDefault = <T, const D>(schema: z.ZodType<T>, value: D) =>
  z.codec(schema.nullish(), z.custom<T | D>(), { decode: (sent) => sent ?? value, encode: (given) => given as T })

/** Requests only: null equals an absent member. */
export const nullAsAbsent = <T>(schema: z.ZodType<T>) =>
  z.codec(schema.nullable(), z.custom<T | undefined>(), {
    decode: (value) => value ?? undefined,
    encode: (value) => value ?? null,
  })

/** Requests only: null becomes the empty string. */
export const nullAsEmpty = (schema: z.ZodType<string>) =>
  z.codec(schema.nullable(), z.custom<string>(), { decode: (value) => value ?? "", encode: (value) => value })

/** Requests only: the empty string becomes null. */
export const emptyAsNull = (schema: z.ZodType<string>) =>
  z.codec(schema.nullable(), z.custom<string | null>(), {
    decode: (value) => (value === "" ? null : value),
    encode: (value) => value,
  })

/** Answers only: the empty string of the domain is null on the wire. */
export const nullIfEmpty = z.codec(z.string().nullable(), z.custom<string>(), {
  decode: (value) => value ?? "",
  encode: (value) => (value === "" ? null : value),
})

// Codecs of zod, between the wire and the domain. What zod cannot do is here: encode without checking.
import { z } from "zod"
import { camelCased, dashed } from "../wire/jsonapi/member-name.ts"

/** Description of a member or a parameter, for the reference, help and OpenAPI. */
export interface Documentation {
  /** Sentences. */
  readonly rule: string
  /** As on the wire. */
  readonly default?: unknown
  readonly example?: unknown
}

/**
 * Returns the wire form of a value. Unlike `z.encode` it checks nothing: a stored value that a newer rule forbids can still be
 * read, and what a client sends is judged by the server.
 */
export function encode(schema: z.core.$ZodType, value: unknown): unknown {
  if (value === undefined) return undefined
  if (schema instanceof z.ZodCodec)
    return encode(schema.def.in, schema.def.reverseTransform(value, { value, issues: [] }))
  if (value === null) return null
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodPrefault)
    return encode(schema.def.innerType, value)
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => encode(schema.def.element, item))
  if (!(schema instanceof z.ZodObject) || typeof value !== "object") return value
  const values = value as Readonly<Record<string, unknown>>
  return definedMembers(Object.entries(schema.def.shape).map(([name, member]) => [name, encode(member, values[name])]))
}

export const definedMembers = (members: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(members.filter(([, value]) => value !== undefined))

type ShapeOf<T> = { readonly [Name in keyof T]-?: z.ZodType<T[Name]> }

/** An object inside an attribute: dashes on the wire, camelCase in the domain. Members that are not declared are dropped. */
export const dashedObject = <T extends object>(shape: ShapeOf<T>): z.ZodType<T> =>
  z.codec(
    z.object(Object.fromEntries(Object.entries<z.ZodType>(shape).map(([name, schema]) => [dashed(name), schema]))),
    z.custom<T>(),
    {
      decode: (members) =>
        definedMembers(Object.entries(members).map(([name, value]) => [camelCased(name), value])) as T,
      encode: (value) => Object.fromEntries(Object.entries(value).map(([name, member]) => [dashed(name), member])),
    },
  )

const shapeOf = (names: readonly string[], schema: z.ZodType): object =>
  Object.fromEntries(names.map((name) => [name, schema]))

/** Booleans by name. */
export const flags = <Name extends string>(names: readonly Name[]) =>
  dashedObject(shapeOf(names, z.boolean()) as ShapeOf<{ readonly [name in Name]: boolean }>)

/** Some of them. */
export const someFlags = <Name extends string>(names: readonly Name[]) =>
  dashedObject(shapeOf(names, z.boolean().optional()) as ShapeOf<{ readonly [name in Name]?: boolean }>)

/** Of a request: null is the same as a member that is left out. */
export const nullAsAbsent = <T>(schema: z.ZodType<T>) =>
  z.codec(schema.nullable(), z.custom<T | undefined>(), {
    decode: (value) => value ?? undefined,
    encode: (value) => value ?? null,
  })

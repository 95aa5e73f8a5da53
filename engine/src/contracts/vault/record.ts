// The parameters of a resource below `/v1` as one definition: requests, answers, path help and the reference come from it.
import type { Fault } from "../../core/errors.ts"
import type { Dialect } from "../../wire/pki/dialect.ts"
import { underscored } from "../../wire/pki/member-name.ts"
import {
  decodeAnswer,
  type Decoded,
  type Document,
  encodeMembers,
  kindOf,
  type Parameters,
  parameters,
} from "../../wire/pki/parameters.ts"
import type { Documentation } from "../codec.ts"
import type { ParameterType } from "./types.ts"

export interface Parameter<T> extends Documentation {
  readonly type: ParameterType<T>
  /** Name on the wire, if it is not the domain's with underscores. */
  readonly wireName?: string
}

export const parameter = <T>(
  type: ParameterType<T>,
  rule: string,
  documentation: Omit<Parameter<T>, "type" | "rule"> = {},
): Parameter<T> => ({ type, rule, ...documentation })

/** Members of requests or answers that are no resource of their own. */
export function fields<T extends object>(members: {
  readonly [Name in keyof T]: Parameter<T[Name]>
}): Parameters<T> {
  const all = Object.entries(members) as [string, Parameter<unknown>][]
  return parameters(
    Object.fromEntries(all.map(([name, { type }]) => [name, kindOf(type)])),
    Object.fromEntries(all.map(([name, { wireName }]) => [name, wireName ?? underscored(name)])),
    Object.fromEntries(all.map(([name, { type: _, wireName: __, ...note }]) => [name, note])),
  ) as unknown as Parameters<T>
}

/** Parameters of any type. */
export type Table = Pick<Parameters<never>, "members" | "byWireName">

/** Parameters of a request, as the server reads and the client sends them. */
export interface Body<T, Given = T> {
  readonly table: Table
  readonly decode: (request: ParameterReader) => T
  readonly encode: (value: Given) => Document
}
/** An incoming request. `decode` throws for parameters that cannot be read, `read` returns their faults. */
export interface ParameterReader {
  readonly decode: <T extends object>(table: Parameters<T>) => Partial<T>
  readonly read: <T extends object>(table: Parameters<T>) => Omit<Decoded<T>, "ignored">
}

/** Optional parameters; the request is refused if one cannot be read. */
export const bodyOf = <T extends object>(table: Parameters<T>): Body<Partial<T>> => ({
  table,
  decode: (request) => request.decode(table),
  encode: (value) => encodeMembers(table, value, "native"),
})

/** Any part of the values, and the faults of the request, which the rules report together with theirs. */
export type RecordInput<T> = Partial<T> & { readonly faults?: readonly Fault[] }

interface Parts<View> {
  /** Of parameters left out, in the domain. */
  readonly defaults: View
  /** Members of answers that never change; requests cannot set them. */
  readonly constants?: Document
}

/** Answers hold a `View`. Requests hold any part of it, with the closed vocabularies still open. */
export function record<T extends object, View extends T>(
  members: { readonly [Name in keyof T]: Parameter<T[Name]> },
  { defaults, constants = {} }: Parts<View>,
) {
  const wireDefaults = encodeMembers(fields(members), defaults, "native")
  const presets = (Object.entries(members) as [string, Parameter<unknown>][]).map(([name, one]) => {
    const preset = wireDefaults[one.wireName ?? underscored(name)]
    return [name, { ...one, default: preset, example: typeof preset === "boolean" ? !preset : one.example }]
  })
  const table = fields<T>(Object.fromEntries(presets) as typeof members)
  const encodeGiven = ({ faults: _, ...value }: RecordInput<T>): Document =>
    encodeMembers(table, value as unknown as Partial<T>, "native")
  /** What is left out has its default. */
  const input: Body<RecordInput<T>> = {
    table,
    decode(request) {
      const { value, faults } = request.read(table)
      return { ...value, faults }
    },
    encode: encodeGiven,
  }
  /** What is null has its default again (RFC 7396). */
  const patch: Body<RecordInput<T>> = {
    table,
    decode(request) {
      const { value, faults, removed } = request.read(table)
      return { ...Object.fromEntries(removed.map((name) => [name, defaults[name]])), ...value, faults }
    },
    encode: encodeGiven,
  }
  return {
    members,
    table,
    constants,
    encode: (view: View, dialect: Dialect): Document => ({ ...encodeMembers(table, view, dialect), ...constants }),
    decode: (data: unknown): View => decodeAnswer(table, data) as View,
    input,
    patch,
  }
}

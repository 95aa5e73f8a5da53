// Parameters of a resource below `/v1` as one definition, from which requests, answers, path help and the reference come.
import type { Fault } from "../../core/errors.ts"
import { type Dialect, underscored } from "./format/dialect.ts"
import {
  decodeAnswer,
  type Decoded,
  type Document,
  encodeMembers,
  kindOf,
  type ParameterNote,
  type Parameters,
  parameters,
} from "./format/parameters.ts"
import type { Documentation } from "../codec.ts"
import type { ParameterType } from "./types.ts"

export interface Parameter<T> extends Documentation {
  readonly type: ParameterType<T>
  /** Name on the wire, if it is not the underscored domain name. */
  readonly wireName?: string
  /** Older name on the wire, which requests may use. The newer name takes precedence. */
  readonly alias?: string
  /** Answers may lack it. */
  readonly optional?: true
}

export const parameter = <T>(
  type: ParameterType<T>,
  rule: string,
  documentation: Omit<Parameter<T>, "type" | "rule"> = {},
): Parameter<T> => ({ type, rule, ...documentation })

/** Table with parameters of any type. */
export type Table = Pick<Parameters<never>, "members" | "byWireName">
type AnyMembers = Readonly<Record<string, Parameter<unknown>>>
type Members<T> = { readonly [Name in keyof T]: Parameter<T[Name]> }

/** Returns a table of members of requests or answers. `defaults` are domain values. */
export const fields = <T extends object>(members: Members<T>, defaults: Partial<NoInfer<T>> = {}): Parameters<T> =>
  fieldsOfAny(members, defaults) as unknown as Parameters<T>

function fieldsOfAny(members: AnyMembers, defaults: object): Parameters<Record<string, unknown>> {
  const all = Object.entries(members)
  const kinds = Object.fromEntries(all.map(([name, { type }]) => [name, kindOf(type)]))
  const wireNames = Object.fromEntries(all.map(([name, { wireName }]) => [name, wireName ?? underscored(name)]))
  const optional = all.filter(([, one]) => one.optional === true).map(([name]) => name)
  const tableWith = (notes: Readonly<Record<string, ParameterNote>>) =>
    parameters(kinds, wireNames, { notes, optional })
  const presets = encodeMembers(tableWith({}), defaults, "native")
  const noteOf = (name: string, { rule, default: given, example }: Documentation): ParameterNote => {
    const preset = given ?? presets[wireNames[name] ?? name]
    return { rule, default: preset, example: typeof preset === "boolean" ? !preset : example }
  }
  return tableWith(Object.fromEntries(all.map(([name, one]) => [name, noteOf(name, one)])))
}

/** Parameters of a request, which the server decodes and the client encodes. */
export interface Body<T, Given = T> {
  readonly table: Table
  /** Tables of parameters that are objects. */
  readonly nested?: readonly Table[]
  readonly decode: (request: ParameterReader) => T
  readonly encode: (value: Given) => Document
}
/** Incoming request. `decode` throws for parameters that cannot be read; `read` returns their faults. */
export interface ParameterReader {
  readonly decode: <T extends object>(table: Parameters<T>) => Partial<T>
  readonly read: <T extends object>(table: Parameters<T>) => Omit<Decoded<T>, "ignored">
}

/** Returns a body of optional parameters. The request fails if one of them cannot be read. */
export const bodyOf = <T extends object>(table: Parameters<T>): Body<Partial<T>> => ({
  table,
  decode: (request) => request.decode(table),
  encode: (value) => encodeMembers(table, value, "native"),
})

/** Any part of the values, and the faults of the request, which domain rules report together with their own. */
export type RecordInput<T> = Partial<T> & { readonly faults?: readonly Fault[] }

interface Parts<View, Answered, Sent> {
  /** Domain values of absent parameters. */
  readonly defaults?: Partial<View>
  /** Members of answers with fixed values; requests cannot set them. */
  readonly constants?: Document
  /** Members of answers only. */
  readonly readOnly?: Members<Answered>
  /** Parameters of requests only. */
  readonly writeOnly?: Members<Sent>
  /** Parameters of requests that are checked and dropped. */
  readonly unsupported?: AnyMembers
}

/**
 * Returns the definition of a resource. Answers contain a `View`, requests any part of `T`, whose enumerations are plain strings until the
 * domain checks them.
 */
export function record<
  T extends object,
  Answered extends object = object,
  Sent extends object = object,
  View extends T & Answered = T & Answered,
>(members: Members<T>, parts: Parts<View, Answered, Sent> = {}) {
  const { defaults = {}, constants = {}, readOnly, writeOnly, unsupported = {} } = parts
  const table = fieldsOfAny({ ...members, ...readOnly }, defaults) as unknown as Parameters<T & Answered>
  const sent: AnyMembers = { ...members, ...writeOnly }
  const aliases = Object.entries(sent).flatMap(([name, { alias, wireName: _, ...one }]) =>
    alias === undefined ? [] : [{ name, older: `~${alias}`, parameter: { ...one, wireName: alias } }],
  )
  const inputMembers = {
    ...sent,
    ...unsupported,
    ...Object.fromEntries(aliases.map((alias) => [alias.older, alias.parameter])),
  }
  const dropped = new Set([...Object.keys(unsupported), ...aliases.map(({ older }) => older)])
  const inputTable =
    writeOnly === undefined && readOnly === undefined && dropped.size === 0
      ? (table as unknown as Parameters<T & Sent>)
      : (fieldsOfAny(inputMembers, defaults) as unknown as Parameters<T & Sent>)
  const valueOf = (read: Readonly<Record<string, unknown>>): Partial<T & Sent> => {
    if (dropped.size === 0) return read as Partial<T & Sent>
    const older = aliases.flatMap((alias) =>
      Object.hasOwn(read, alias.older) ? [[alias.name, read[alias.older]]] : [],
    )
    const newer = Object.entries(read).filter(([name]) => !dropped.has(name))
    return Object.fromEntries([...older, ...newer]) as Partial<T & Sent>
  }
  const encodeGiven = ({ faults: _, ...value }: RecordInput<T & Sent>): Document =>
    encodeMembers(inputTable, value as unknown as Partial<T & Sent>, "native")
  /** Absent parameters get their defaults. */
  const input: Body<RecordInput<T & Sent>> = {
    table: inputTable,
    decode(request) {
      const { value, faults } = request.read(inputTable)
      return { ...valueOf(value), faults }
    },
    encode: encodeGiven,
  }
  /** Null restores the default of a parameter (RFC 7396). */
  const patch: Body<RecordInput<T & Sent>> = {
    table: inputTable,
    decode(request) {
      const { value, faults, removed } = request.read(inputTable)
      const reset = removed.map((name) => [name, (defaults as Readonly<Record<string, unknown>>)[name]])
      return { ...Object.fromEntries(reset), ...valueOf(value), faults }
    },
    encode: encodeGiven,
  }
  /** Absent parameters keep their values. The request fails if a parameter cannot be read. */
  const change: Body<Partial<T & Sent>> = {
    table: inputTable,
    decode: (request) => valueOf(request.decode(inputTable)),
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
    change,
  }
}

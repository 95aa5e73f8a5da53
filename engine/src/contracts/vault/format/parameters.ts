// Kinds of members in requests and answers, for server and client: decoding, encoding and error texts. Clients send strings for all kinds
// (docs/compatibility.md, "Requests to the certificate API"), so decoding coerces; encoding does not.
import { ZodLiteral } from "zod"
import { type Fault, unavailable } from "../../../core/errors.ts"
import { encode as encodeUnchecked } from "../../codec.ts"
import type * as types from "../types.ts"
import { type Dialect, underscored } from "./dialect.ts"

/** Kind of member. */
export interface Kind<T> {
  /** Returns undefined if the value cannot be read, or a `Problem` if `expected` does not explain why. */
  readonly decode: (value: unknown) => T | undefined | Problem
  readonly encode: (value: T, dialect: Dialect) => unknown
  /** Completes the sentence "must be …". */
  readonly expected: string
  /** Type name in path help. */
  readonly type: types.FieldType
  /**
   * Facts for OpenAPI: item type of a list that is not of strings, the only allowed values, and whether Vault clients read another form.
   */
  readonly items?: "integer"
  readonly values?: readonly unknown[]
  readonly hasVaultForm?: true
}

export class Problem {
  /** Begins with a verb: "must not …". */
  readonly detail: string
  constructor(detail: string) {
    this.detail = detail
  }
}

/** Maximum length of bundles of certificates and keys. */
export const maxImportBytes = 1_024 * 1_024

/** Converts a type of the contracts to a kind. */
export const kindOf = <T>({ schema, expected, type, items, vault }: types.ParameterType<T>): Kind<T> => ({
  decode(value) {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return issue?.code === "custom" ? new Problem(issue.message) : undefined
  },
  encode: (value, dialect) =>
    dialect === "vault" && vault !== undefined ? vault(value) : encodeUnchecked(schema, value),
  expected,
  type,
  ...(items && { items }),
  ...(schema instanceof ZodLiteral && { values: [...schema.values] }),
  ...(vault && { hasVaultForm: true }),
})

// oxlint-disable-next-line typescript/no-explicit-any -- a table holds kinds of every type
type AnyKind = Kind<any>
type Values<Kinds> = { readonly [Name in keyof Kinds]: Kinds[Name] extends Kind<infer T> ? T : never }

/** Members of one document, by their domain names. */
export interface Parameters<T extends object> {
  readonly members: readonly Member<T>[]
  readonly byWireName: ReadonlyMap<string, Member<T>>
}

/** Values of a table. */
export type ValuesOf<Table> = Table extends Parameters<infer T> ? T : never

interface Member<T> {
  readonly name: keyof T & string
  readonly wireName: string
  readonly kind: AnyKind
  readonly note?: ParameterNote
  /** Answers may lack it. */
  readonly optional?: true
}

/** Help for a member. */
export interface ParameterNote {
  /** One or more sentences. */
  readonly rule: string
  /** Default on the wire, in the native dialect. */
  readonly default?: unknown
  readonly example?: unknown
}

/** Table as read by path help. */
export interface ParameterTable {
  readonly members: readonly {
    readonly wireName: string
    readonly note?: ParameterNote
    readonly kind: Pick<AnyKind, "expected" | "type">
  }[]
}

interface Documented {
  readonly notes?: Readonly<Record<string, ParameterNote>>
  readonly optional?: readonly string[]
}

/** Returns a table. `wireNames` are names that do not follow from the domain name. */
export function parameters<Kinds extends Readonly<Record<string, AnyKind>>>(
  kinds: Kinds,
  wireNames: { readonly [Name in keyof Kinds]?: string } = {},
  { notes = {}, optional = [] }: Documented = {},
): Parameters<Values<Kinds>> {
  const members = Object.entries(kinds).map(([name, kind]) => ({
    name: name as keyof Values<Kinds> & string,
    wireName: wireNames[name] ?? underscored(name),
    kind,
    ...(notes[name] === undefined ? {} : { note: notes[name] }),
    ...(optional.includes(name) && { optional: true as const }),
  }))
  return { members, byWireName: new Map(members.map((member) => [member.wireName, member])) }
}

export interface Decoded<T> {
  readonly value: Partial<T>
  /** Faults of members that cannot be read, which have no value. */
  readonly faults: readonly Fault[]
  /** Members that are null: a merge patch removes them (RFC 7396). */
  readonly removed: readonly (keyof T & string)[]
  /** Wire names that the table does not know. */
  readonly ignored: readonly string[]
}

export type Document = Readonly<Record<string, unknown>>

export const isDocument = (value: unknown): value is Document =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export function decodeDocument<T extends object>({ byWireName }: Parameters<T>, document: Document): Decoded<T> {
  const value: Partial<T> = {}
  const faults: Fault[] = []
  const removed: (keyof T & string)[] = []
  const ignored: string[] = []
  for (const [wireName, given] of Object.entries(document)) {
    const member = byWireName.get(wireName)
    if (member === undefined) {
      ignored.push(wireName)
      continue
    }
    const { name, kind } = member
    const read: unknown = kind.decode(given)
    if (read === undefined && given === null) removed.push(name)
    else if (read === undefined) faults.push({ field: [name], detail: `"${wireName}" must be ${kind.expected}` })
    else if (read instanceof Problem) faults.push({ field: [name], detail: `"${wireName}" ${read.detail}` })
    else value[name] = read as T[keyof T & string]
  }
  return { value, faults, removed, ignored }
}

/** Encodes members, without those that are undefined. */
export function encodeMembers<T extends object>(
  { members }: Parameters<T>,
  value: Partial<T>,
  dialect: Dialect,
): Record<string, unknown> {
  const document: Record<string, unknown> = {}
  for (const { name, wireName, kind } of members) {
    const member = value[name]
    if (member !== undefined) document[wireName] = kind.encode(member, dialect)
  }
  return document
}

/** Decodes an answer. Throws `unavailable` if a member that is not optional is missing. */
export function decodeAnswer<T extends object>(table: Parameters<T>, document: unknown): T {
  const value = decodeSomeAnswer(table, document)
  const missing = table.members.find(({ name, optional }) => optional !== true && !Object.hasOwn(value, name))
  if (missing !== undefined) throw unreadable(`"${missing.wireName}" is missing`)
  return value as T
}

/** Decodes an answer that may lack any member. Throws `unavailable` if a member cannot be read. */
export function decodeSomeAnswer<T extends object>(table: Parameters<T>, document: unknown): Partial<T> {
  if (!isDocument(document)) throw unreadable('"data" must be an object')
  const { value, faults } = decodeDocument(table, document)
  if (faults[0] !== undefined) throw unreadable(faults[0].detail)
  return value
}

export const unreadable = (why: string) => unavailable(`The server's answer cannot be read: ${why}.`)

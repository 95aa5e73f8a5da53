// Endpoint below `/v1` as a plain object. Server and client implement it as a function of the path parameters and the body or page.
import type { KeyPage } from "../../pki/mounts/key-page.ts"
import type { Dialect } from "./format/dialect.ts"
import type { DecodedEnvelope, Lease } from "./format/envelope.ts"
import type { WireNames } from "./format/errors.ts"
import type { Instant } from "../../core/time.ts"
import { type Document, isDocument, unreadable } from "./format/parameters.ts"
import type { PathOf } from "../path.ts"
import { type Body, bodyOf, fields, parameter, type Table } from "./record.ts"
import { integer, text } from "./types.ts"

export interface AnswerRecord {
  readonly table: Table
  readonly constants?: Document
}

/** Data in an envelope, or raw bytes. */
export type Encoded =
  | {
      /** Undefined for an answer without a body, unless there are warnings. */
      readonly data: Document | null | undefined
      /** Token that a login or its renewal returns. */
      readonly auth?: Document
      readonly warnings?: readonly string[]
      readonly lease?: Lease | undefined
      readonly status?: number
    }
  | { readonly body: string | Uint8Array; readonly mediaType: string }

export interface Answer<Sent, Received = Sent> {
  /**
   * Kind of the answer: `keys` is a list of names with details of each, `data` an envelope, `file` bytes, and `nothing` warnings only. With
   * `response`, the handler makes the response itself.
   */
  readonly kind: "keys" | "data" | "file" | "nothing" | "response"
  readonly encode?: (value: Sent, dialect: Dialect) => Encoded
  readonly decode?: (envelope: DecodedEnvelope) => Received
  readonly record?: AnswerRecord
  readonly mediaTypes?: readonly string[]
  /** Default: 200. */
  readonly status?: 202
  /** The status is 204 if there is nothing to return. */
  readonly orNothing?: true
  /** The members of `data` are repeated at the top level, where Vault clients read them as well. */
  readonly repeated?: true
  /** Maximum length of a list of keys. */
  readonly maximum?: number
  /** The sent value is `Versioned`. "by dialect": the representation differs between dialects. */
  readonly conditional?: true | "by dialect"
}

export interface Endpoint {
  readonly operation: "read" | "write" | "patch" | "list" | "delete"
  /** Path below the mount, with parameters as `:name`. */
  readonly path: string
  /** Older paths of the same endpoint, with the same parameters. */
  readonly alsoAt?: readonly string[]
  readonly summary: string
  readonly rights: string
  /** Parameters in the body, or in the query if the operation has none. */
  readonly body?: Body<unknown, never>
  readonly answers: Answer<never, unknown>
  readonly open?: true
  /** Also served on the device listener, which requests client certificates. */
  readonly device?: true
  readonly tokenCounts?: true
  /** The body, or a last `*name` of the path, is passed on without decoding. */
  readonly raw?: true
  /** Media type of a raw body. */
  readonly rawMediaType?: string
  readonly bodyLimitBytes?: number
  readonly signs?: true
  readonly readOnly?: true
  /** Wire names of domain fields in faults, if those are no parameters of the body. */
  readonly wireNames?: WireNames
}
export type Contract = Readonly<Record<string, Endpoint>>

export type ArgumentsOf<E extends Endpoint> = [
  ...PathOf<E["path"]>,
  ...(E extends { body: Body<infer T, never> } ? (undefined extends T ? [body?: T] : [body: T]) : []),
]
export type SentBy<E extends Endpoint> = E["answers"] extends Answer<infer Sent, unknown> ? Sent : never
export type ReceivedFrom<E extends Endpoint> = E["answers"] extends Answer<never, infer Received> ? Received : never

export const contract = <const C extends Contract>(endpoints: C): C => endpoints

export const nothing: Answer<void> = { kind: "nothing" }
/** Answer with warnings only. */
export const warnings: Answer<readonly string[]> = {
  kind: "nothing",
  encode: (sent) => ({ data: null, warnings: sent }),
  decode: (envelope) => envelope.warnings,
}
/** Answer to a request whose work continues afterwards. */
export const accepted: Answer<readonly string[]> = {
  kind: "data",
  status: 202,
  encode: (sent) => ({ data: null, status: 202, warnings: sent }),
  decode: (envelope) => envelope.warnings,
}

interface Entries<View> {
  readonly key: (view: View) => string
  readonly table: Table
  readonly encode: (view: View) => Document
  readonly decode: (key: string, info: unknown) => View
  readonly maximum?: number
}
/** Returns an answer that lists names with details of each. */
export const entries = <View>({ key, table, encode, decode, maximum }: Entries<View>): Answer<readonly View[]> => ({
  kind: "keys",
  encode: (views) => ({
    data: { keys: views.map(key), key_info: Object.fromEntries(views.map((view) => [key(view), encode(view)])) },
  }),
  decode: ({ data }) => keysIn(data).map((name) => decode(name, infoIn(data)[name])),
  record: { table },
  ...(maximum !== undefined && { maximum }),
})
/** Returns an answer that lists at most `maximum` names. */
export const keysUpTo = <Key extends string>(
  maximum: number,
  decode: (key: string) => Key,
): Answer<readonly Key[]> => ({
  kind: "keys",
  encode: (names) => ({ data: { keys: names } }),
  decode: ({ data }) => keysIn(data).map(decode),
  maximum,
})
export const keys: Answer<readonly string[]> = keysUpTo(Infinity, (key) => key)

const keysIn = (data: unknown): readonly string[] => (data as { readonly keys: readonly string[] }).keys
function infoIn(data: unknown): Document {
  const info = isDocument(data) ? data["key_info"] : undefined
  if (!isDocument(info)) throw unreadable("it is not a list")
  return info
}

export interface Version {
  /** Unique for the content at this path; without quotes. */
  readonly tag: string
  /** Time of the last change; 0 if unknown. */
  readonly modifiedAt: Instant
}
export interface Versioned<T> {
  readonly value: T
  readonly version: Version
}
/** Returns an answer of raw bytes or text. */
export const file = (mediaType: string): Answer<string | Uint8Array, Uint8Array> => ({
  kind: "file",
  encode: (body) => ({ body, mediaType }),
  mediaTypes: [mediaType],
})
/** Returns an answer for conditional requests (RFC 9110, section 13). The sent value is undefined if there is nothing to return. */
export const conditional = <Sent, Received>(
  answers: Answer<Sent, Received>,
  by: true | "by dialect" = true,
): Answer<Versioned<Sent> | undefined, Received> => ({
  ...answers,
  encode: (versioned, dialect) =>
    versioned === undefined ? { data: null } : (answers.encode?.(versioned.value, dialect) ?? { data: null }),
  conditional: by,
})
export interface ResponseAnswer extends Answer<never, unknown> {
  readonly kind: "response"
}
/** Returns an answer whose response the handler makes itself. */
export const response = (...mediaTypes: readonly string[]): ResponseAnswer => ({ kind: "response", mediaTypes })

const keyPageParameters = fields({
  after: parameter(text, "Returns only keys behind this one.", { example: "web" }),
  limit: parameter(integer, "Maximum number of keys.", { example: 100 }),
})
/** Parameters of paged lists. */
export const keyPage: Body<KeyPage | undefined> = {
  ...bodyOf(keyPageParameters),
  encode: (page = {}) => bodyOf(keyPageParameters).encode(page),
}

interface Codec<View> extends AnswerRecord {
  readonly encode: (view: View, dialect: Dialect) => Document
  readonly decode: (data: unknown) => View
}
export const data = <View>(record: Codec<View>): Answer<View> => ({
  kind: "data",
  encode: (view, dialect) => ({ data: record.encode(view, dialect) }),
  decode: ({ data }) => record.decode(data),
  record,
})
export type DataAnswer<Sent, Received = Sent> = Answer<Sent, Received> &
  Required<Pick<Answer<Sent, Received>, "encode" | "decode">>
/** Returns an answer whose data has the members of a table. */
export const dataOf = <Sent, Received>(
  table: Table,
  encode: (value: Sent, dialect: Dialect) => Encoded,
  decode: (envelope: DecodedEnvelope) => Received,
): DataAnswer<Sent, Received> => ({ kind: "data", encode, decode, record: { table } })
export type Warned<Name extends string, View> = { readonly [name in Name]: View } & {
  readonly warnings: readonly string[]
}
/** Returns an answer with the written resource under `name`, and with warnings. */
export const warned = <View, const Name extends string>(
  record: Codec<View>,
  name: Name,
): Answer<Warned<Name, View>> => ({
  kind: "data",
  encode: (saved, dialect) => ({ data: record.encode(saved[name], dialect), warnings: saved.warnings }),
  decode: ({ data, warnings }) => ({ [name]: record.decode(data), warnings }) as Warned<Name, View>,
  record,
})

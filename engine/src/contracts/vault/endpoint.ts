// An endpoint below `/v1` as a plain object. On the server and in the client it is one function, of the path's parameters and of
// the body or the page.
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

/** Data in an envelope, or bytes as they are. */
export type Encoded =
  | {
      /** Undefined for an answer without a body, unless there are warnings. */
      readonly data: Document | null | undefined
      /** A token. */
      readonly auth?: Document
      readonly warnings?: readonly string[]
      readonly lease?: Lease | undefined
      readonly status?: number
    }
  | { readonly body: string | Uint8Array; readonly mediaType: string }

export interface Answer<Sent, Received = Sent> {
  /** Names with what is known of each; data in an envelope; bytes; nothing but warnings; or a response that the handler makes. */
  readonly kind: "keys" | "data" | "file" | "nothing" | "response"
  readonly encode?: (value: Sent, dialect: Dialect) => Encoded
  readonly decode?: (envelope: DecodedEnvelope) => Received
  readonly record?: AnswerRecord
  readonly mediaTypes?: readonly string[]
  /** 200 unless it is another. */
  readonly status?: 202
  /** 204 if there is nothing to return. */
  readonly orNothing?: true
  /** Vault clients expect the members of the data beside it as well. */
  readonly repeated?: true
  /** Maximum length of a list of keys. */
  readonly maximum?: number
  /** Sent is `Versioned`. "by dialect": both dialects have forms of their own. */
  readonly conditional?: true | "by dialect"
}

export interface Endpoint {
  readonly operation: "read" | "write" | "patch" | "list" | "delete"
  /** From the mount; parameters as `:name`. */
  readonly path: string
  /** Older addresses of the same endpoint, with the same parameters. */
  readonly alsoAt?: readonly string[]
  readonly summary: string
  readonly rights: string
  /** In the body, or in the query if the operation has none. */
  readonly body?: Body<unknown, never>
  readonly answers: Answer<never, unknown>
  readonly open?: true
  readonly tokenCounts?: true
  /** The body, or a last `*name` of the path, is taken as it is. */
  readonly raw?: true
  /** Of a body that is taken as it is. */
  readonly rawMediaType?: string
  readonly bodyLimitBytes?: number
  readonly signs?: true
  readonly readOnly?: true
  /** Names of domain fields in faults that are not the body's. */
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
/** Nothing but warnings. */
export const warnings: Answer<readonly string[]> = {
  kind: "nothing",
  encode: (sent) => ({ data: null, warnings: sent }),
  decode: (envelope) => envelope.warnings,
}
/** The work goes on after the answer. */
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
/** Names, and what is known of each. */
export const entries = <View>({ key, table, encode, decode, maximum }: Entries<View>): Answer<readonly View[]> => ({
  kind: "keys",
  encode: (views) => ({
    data: { keys: views.map(key), key_info: Object.fromEntries(views.map((view) => [key(view), encode(view)])) },
  }),
  decode: ({ data }) => keysIn(data).map((name) => decode(name, infoIn(data)[name])),
  record: { table },
  ...(maximum !== undefined && { maximum }),
})
/** At most so many names at once. */
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
  if (!isDocument(info)) throw unreadable("it is no list")
  return info
}

export interface Version {
  /** Unlike that of any other content at the address; without quotes. */
  readonly tag: string
  /** Time of the last change; 0 if it is not known. */
  readonly modifiedAt: Instant
}
export interface Versioned<T> {
  readonly value: T
  readonly version: Version
}
/** Bytes or text as they are. */
export const file = (mediaType: string): Answer<string | Uint8Array, Uint8Array> => ({
  kind: "file",
  encode: (body) => ({ body, mediaType }),
  mediaTypes: [mediaType],
})
/** Read conditionally (RFC 9110, section 13); undefined if there is nothing. */
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
/** The handler makes the response itself. */
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
/** Data whose members the table names. */
export const dataOf = <Sent, Received>(
  table: Table,
  encode: (value: Sent, dialect: Dialect) => Encoded,
  decode: (envelope: DecodedEnvelope) => Received,
): DataAnswer<Sent, Received> => ({ kind: "data", encode, decode, record: { table } })
export type Warned<Name extends string, View> = { readonly [name in Name]: View } & {
  readonly warnings: readonly string[]
}
/** The resource under a name of the domain, and what its writer should know. */
export const warned = <View, const Name extends string>(
  record: Codec<View>,
  name: Name,
): Answer<Warned<Name, View>> => ({
  kind: "data",
  encode: (saved, dialect) => ({ data: record.encode(saved[name], dialect), warnings: saved.warnings }),
  decode: ({ data, warnings }) => ({ [name]: record.decode(data), warnings }) as Warned<Name, View>,
  record,
})

// An endpoint below `/v1` as a plain object. On the server and in the client it is one function, of the path's parameters and of
// the body or the page.
import type { KeyPage } from "../../pki/key-page.ts"
import type { Dialect } from "../../wire/pki/dialect.ts"
import type { DecodedEnvelope } from "../../wire/pki/envelope.ts"
import { keyPageParameters } from "../../wire/pki/key-page.ts"
import type { Document } from "../../wire/pki/parameters.ts"
import type { PathOf } from "../path.ts"
import { type Body, bodyOf, type Table } from "./record.ts"

interface AnswerRecord {
  readonly table: Table
  readonly constants: Document
}

export interface Answer<Sent, Received = Sent> {
  /** Names; data in an envelope; or nothing. */
  readonly kind: "keys" | "data" | "nothing"
  readonly encode?: (
    value: Sent,
    dialect: Dialect,
  ) => { readonly data: Document; readonly warnings?: readonly string[] }
  readonly decode?: (envelope: Pick<DecodedEnvelope, "data" | "warnings">) => Received
  readonly record?: AnswerRecord
}

export interface Endpoint {
  readonly operation: "read" | "write" | "patch" | "list" | "delete"
  /** From the mount; parameters as `:name`. */
  readonly path: string
  readonly summary: string
  readonly rights: string
  /** In the body, or in the query if the operation has none. */
  readonly body?: Body<unknown, never>
  readonly answers: Answer<never, unknown>
  readonly open?: true
  readonly bodyLimitBytes?: number
  readonly signs?: true
  readonly readOnly?: true
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
export const keys: Answer<readonly string[]> = { kind: "keys" }
/** How every list is read in parts. */
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

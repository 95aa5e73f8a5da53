// Endpoint of `/api/v2` as a plain object. Server and client implement it as a function of the path parameters, the query, the body and the
// page, in this order.
import { z } from "zod"
import type { Writer } from "../../core/owner.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { EngineError } from "../../core/errors.ts"
import { decodeAll, decodeOne, decodePageOf } from "./json-api/answer.ts"
import type { Resource } from "./json-api/document.ts"
import { encodePage } from "./json-api/links.ts"
import { decodeCommaList, encodeCommaList } from "./json-api/query.ts"
import type { Documentation } from "../codec.ts"
import type { PathOf } from "../path.ts"
import type { Body, Definition } from "./document.ts"

/** Answer of an endpoint. The handler returns `Sent`; the client returns `Received`. */
export interface Answer<Sent, Received = Sent> {
  readonly status: number
  readonly encode?: (value: Sent, request: { readonly url: URL }) => unknown
  readonly decode?: (document: unknown) => Received
  /** `optional`: without page parameters, the answer has all resources. */
  readonly paged?: true | "optional"
  readonly document?: Definition
  /** `data` is a list. */
  readonly list?: true
  /** The answer has one resource if the request has one instead of a list. */
  readonly orOne?: true
  /** The status is 204 if there is nothing to return. */
  readonly orNothing?: true
  /** JSON that is not a JSON:API document. */
  readonly json?: true
  /** Bytes instead of a document; undefined has the status 204. */
  readonly bytes?: { readonly mediaType: string; readonly as: "whole" | "stream" }
  readonly headers?: (request: { readonly snapshotIntervalSeconds: number }) => Readonly<Record<string, string>>
}

export interface QueryParameter<T = unknown> extends Documentation {
  /** Name on the wire. */
  readonly parameter: string
  readonly schema: z.ZodType<T>
  /** The schema decodes an empty string if the parameter is absent. */
  readonly required?: true
  /** Reads the input of the schema from several parameters, and writes its output to them. */
  readonly several?: {
    readonly read: (query: URLSearchParams) => unknown
    readonly write: (encoded: never) => readonly (readonly [name: string, value: string])[]
  }
}
export type Query = Readonly<Record<string, QueryParameter>>
type ValueOf<P> = P extends QueryParameter<infer T> ? Exclude<T, undefined> : never
export type QueryOf<Q> = {
  readonly [Name in keyof Q as Q[Name] extends { required: true } ? never : Name]?: ValueOf<Q[Name]>
} & { readonly [Name in keyof Q as Q[Name] extends { required: true } ? Name : never]: ValueOf<Q[Name]> }
/** Raw bytes. Default of `maximum`: the limit of JSON bodies. */
export interface BytesBody {
  readonly maximum?: number
  readonly tooLarge?: (...parameters: readonly string[]) => EngineError
}

export interface Endpoint {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** Path below `/api/v2`, with parameters as `:team_id`. */
  readonly path: string
  /** One sentence for help and reference. */
  readonly summary: string
  readonly rights: string
  readonly query?: Query
  /** Headers that the handler reads itself. */
  readonly headers?: Readonly<Record<string, Documentation>>
  readonly body?: Body<unknown, never>
  readonly bytes?: BytesBody
  /** The endpoint writes tags, for the owner in the header or in `meta.owner` if there is one (docs/tag-owners.md). */
  readonly owned?: true
  readonly answers: Answer<never, unknown>
  /** The answer contains a state, outputs or sensitive values. */
  readonly discloses?: true
  readonly bodyLimitBytes?: number
  readonly longStrings?: true
}
export type Contract = Readonly<Record<string, Endpoint>>

export type ArgumentsOf<E extends Endpoint> = [
  ...PathOf<E["path"]>,
  ...(E extends { query: infer Q } ? [query: QueryOf<Q>] : []),
  ...(E extends { body: Body<infer T, never> } ? [body: T] : []),
  ...(E extends { bytes: BytesBody } ? [bytes: Uint8Array] : []),
  ...(E extends { owned: true } ? [writer?: Writer] : []),
  ...(E["answers"] extends { paged: true } ? [page: PageRequest] : []),
  ...(E["answers"] extends { paged: "optional" } ? [page?: PageRequest | undefined] : []),
]
export type SentBy<E extends Endpoint> = E["answers"] extends Answer<infer Sent, unknown> ? Sent : never
export type ReceivedFrom<E extends Endpoint> = E["answers"] extends Answer<never, infer Received> ? Received : never

/** Returns its argument with the literal types of paths. */
export const contract = <const C extends Contract>(endpoints: C): C => endpoints
type Codec<View> = Definition & {
  readonly encode: (view: View) => unknown
  readonly decode: (resource: unknown, included: ReadonlyMap<string, unknown>) => View
}

export const nothing: Answer<void> = { status: 204 }
export const accepted: Answer<void> = { status: 202 }
export const resource = <View>(document: Codec<View>, status = 200): Answer<View> => ({
  status,
  encode: (view) => ({ data: document.encode(view) }),
  decode: (answer) => decodeOne(answer, document.decode),
  document,
})
export const created = <View>(document: Codec<View>): Answer<View> => resource(document, 201)
/** Page of resources, optionally with included resources. */
type Listed<View> = Page<View> & { readonly included?: readonly Resource[] | undefined }
export const page = <View>(document: Codec<View>): Answer<Listed<View>, Page<View>> & { readonly paged: true } => ({
  status: 200,
  encode: (items, { url }) => encodePage(items, document.encode, url, items.included),
  decode: (answer) => decodePageOf(answer, document.decode),
  paged: true,
  list: true,
  document,
})
export const pageOrAll = <View>(document: Codec<View>) => ({ ...page(document), paged: "optional" as const })
/** Returns an answer with all resources, without pages. */
export const list = <View>(document: Codec<View>): Answer<readonly View[]> => ({
  status: 200,
  encode: (views) => ({ data: views.map((view) => document.encode(view)) }),
  decode: (answer) => decodeAll(answer, document.decode),
  list: true,
  document,
})
/** Returns an answer with all resources, without pages, and included resources. */
export const listWithIncluded = <View>(
  document: Codec<View>,
): Answer<
  { readonly items: readonly View[]; readonly included?: readonly Resource[] | undefined },
  readonly View[]
> => ({
  status: 200,
  encode: ({ items, included }) => ({
    data: items.map((view) => document.encode(view)),
    ...(included && { included }),
  }),
  decode: (answer) => decodeAll(answer, document.decode),
  list: true,
  document,
})
export const bytes = (mediaType: string): Answer<Uint8Array> => ({ status: 200, bytes: { mediaType, as: "whole" } })
/** Returns an answer of bytes, or 204 if there are none. */
export const bytesOrNothing = (mediaType: string): Answer<Uint8Array | undefined> =>
  ({ ...bytes(mediaType), orNothing: true }) as never
/** Answer with JSON that is not JSON:API. */
export const json: Answer<object> = {
  status: 200,
  json: true,
  encode: (value) => value,
  headers: () => ({ "content-type": "application/json" }),
}
export const stream = (mediaType: string): Answer<AsyncIterable<Uint8Array>> => ({
  status: 200,
  bytes: { mediaType, as: "stream" },
})

export interface WithIncluded<View, Included> {
  readonly data: View
  readonly included?: Included | undefined
}
/** Returns an answer with one resource and included resources. */
export const resourceWithIncluded = <View>(
  document: Codec<View>,
  status = 200,
): Answer<
  WithIncluded<View, readonly Resource[]>,
  { readonly data: View; readonly included: ReadonlyMap<string, unknown> }
> => ({
  status,
  encode: ({ data, included }) => ({ data: document.encode(data), ...(included && { included }) }),
  decode: (answer) =>
    decodeOne(answer, (resource, included) => ({ data: document.decode(resource, included), included })),
  document,
})
export const text = z.string()
/** String that is absent if it is empty. */
export const filledText = z.codec(z.string(), z.custom<string | undefined>(), {
  decode: (value) => value || undefined,
  encode: (value) => value ?? "",
})
/** Returns the schema of a required parameter. */
export const requiredText = (parameter: string) => z.string().min(1, { error: `${parameter} is required` })
/** Returns a codec for non-negative integers. An empty string is absent, unless the parameter is `required`. */
export const wholeNumber = (parameter: string, { required = false } = {}) =>
  z.codec(z.string(), z.custom<number | undefined>(), {
    decode(value, context) {
      if (value === "" && !required) return undefined
      if (/^\d{1,15}$/.test(value)) return Number(value)
      context.issues.push({ code: "custom", message: `${parameter} must be a non-negative integer`, input: value })
      return z.NEVER
    },
    encode: (value) => String(value ?? 0),
  })
/** Comma-separated list such as `a,b`; absent if it is empty. */
export const commaList = z.codec(z.string(), z.custom<readonly string[] | undefined>(), {
  decode: (value) => decodeCommaList(value),
  encode: (values) => encodeCommaList(values ?? []),
})
/** Returns a codec for comma-separated lists of known words; absent if it is empty. */
export const among = <T extends string>(parameter: string, all: readonly T[]) =>
  z.codec(z.string(), z.custom<readonly T[] | undefined>(), {
    decode(text, context) {
      const sent = decodeCommaList(text)
      if (sent?.every((value) => all.some((known) => known === value)) !== false) return sent as T[] | undefined
      context.issues.push({ code: "custom", message: `${parameter} must be one of ${all.join(", ")}`, input: text })
      return z.NEVER
    },
    encode: (values) => encodeCommaList(values ?? []),
  })
/**
 * Returns a codec for comma-separated names of related resources. Clients write them with dashes or underscores, and match "include
 * parameter" in the text of the fault.
 */
export const inclusionOfParts = <const Part extends string>(...parts: readonly Part[]) =>
  z.codec(z.string(), z.custom<readonly Part[] | undefined>(), {
    decode(value, context) {
      const names = decodeCommaList(value)?.map((part) => part.replaceAll("-", "_"))
      if (names?.every((part) => parts.some((known) => known === part)) !== false) return names as Part[] | undefined
      const message = `Invalid include parameter; allowed values: ${parts.join(", ")}`
      context.issues.push({ code: "custom", message, input: value })
      return z.NEVER
    },
    encode: (names) => (names ?? []).join(","),
  })

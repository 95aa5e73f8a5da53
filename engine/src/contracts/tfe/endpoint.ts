// An endpoint of `/api/v2` as a plain object. On the server and in the client it is one function, of the path's parameters, the
// query, the body and the page, in this order.
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

/** `Sent` by the handler, `Received` by the client. */
export interface Answer<Sent, Received = Sent> {
  readonly status: number
  readonly encode?: (value: Sent, request: { readonly url: URL }) => unknown
  readonly decode?: (document: unknown) => Received
  /** `optional`: all of them if the request asks for no page. */
  readonly paged?: true | "optional"
  readonly document?: Definition
  /** `data` is a list. */
  readonly list?: true
  /** If the request has one in the place of a list. */
  readonly orOne?: true
  /** 204 if there is nothing. */
  readonly orNothing?: true
  /** JSON that is no document of JSON:API. */
  readonly json?: true
  /** Bytes in the place of a document; undefined is 204. */
  readonly bytes?: { readonly mediaType: string; readonly as: "whole" | "stream" }
  readonly headers?: (request: { readonly snapshotIntervalSeconds: number }) => Readonly<Record<string, string>>
}

export interface QueryParameter<T = unknown> extends Documentation {
  /** Name on the wire. */
  readonly parameter: string
  readonly schema: z.ZodType<T>
  /** Its schema gets an empty text if it is left out. */
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
/** Raw bytes: all of them, at most as many as a body of JSON may have unless there is a bound. */
export interface BytesBody {
  readonly maximum?: number
  readonly tooLarge?: (...parameters: readonly string[]) => EngineError
}

export interface Endpoint {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** Relative to `/api/v2`; parameters as `:team_id`. */
  readonly path: string
  /** A sentence for help and reference. */
  readonly summary: string
  readonly rights: string
  readonly query?: Query
  /** Headers that the handler reads itself. */
  readonly headers?: Readonly<Record<string, Documentation>>
  readonly body?: Body<unknown, never>
  readonly bytes?: BytesBody
  /** Writes tags, in the name of an owner if the header or `meta.owner` has one (docs/tag-owners.md). */
  readonly owned?: true
  readonly answers: Answer<never, unknown>
  /** Answers with a state, its outputs or sensitive values. */
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

/** Keeps the literal types of paths. */
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
/** Others may be beside the resources of a page. */
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
/** All of them. */
export const list = <View>(document: Codec<View>): Answer<readonly View[]> => ({
  status: 200,
  encode: (views) => ({ data: views.map((view) => document.encode(view)) }),
  decode: (answer) => decodeAll(answer, document.decode),
  list: true,
  document,
})
export const bytes = (mediaType: string): Answer<Uint8Array> => ({ status: 200, bytes: { mediaType, as: "whole" } })
/** 204 if there is none. */
export const bytesOrNothing = (mediaType: string): Answer<Uint8Array | undefined> =>
  ({ ...bytes(mediaType), orNothing: true }) as never
/** JSON of another kind than JSON:API. */
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
/** One resource, and others beside it. */
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
/** Absent if it is empty. */
export const filledText = z.codec(z.string(), z.custom<string | undefined>(), {
  decode: (value) => value || undefined,
  encode: (value) => value ?? "",
})
/** Schema of a required parameter. */
export const requiredText = (parameter: string) => z.string().min(1, { error: `${parameter} is required` })
/** An integer from 0 on; absent if it is empty, unless it is `required`. */
export const wholeNumber = (parameter: string, { required = false } = {}) =>
  z.codec(z.string(), z.custom<number | undefined>(), {
    decode(value, context) {
      if (value === "" && !required) return undefined
      if (/^\d{1,15}$/.test(value)) return Number(value)
      context.issues.push({ code: "custom", message: `${parameter} must be an integer from 0 on`, input: value })
      return z.NEVER
    },
    encode: (value) => String(value ?? 0),
  })
/** `a,b`; absent if it is empty. */
export const commaList = z.codec(z.string(), z.custom<readonly string[] | undefined>(), {
  decode: (value) => decodeCommaList(value),
  encode: (values) => encodeCommaList(values ?? []),
})
/** Known words, with commas between; absent if there is none. */
export const among = <T extends string>(parameter: string, all: readonly T[]) =>
  z.codec(z.string(), z.custom<readonly T[] | undefined>(), {
    decode(text, context) {
      const sent = decodeCommaList(text)
      if (sent?.every((value) => all.some((known) => known === value)) !== false) return sent as T[] | undefined
      context.issues.push({ code: "custom", message: `${parameter} must be among ${all.join(", ")}`, input: text })
      return z.NEVER
    },
    encode: (values) => encodeCommaList(values ?? []),
  })
/**
 * Names of related resources, with commas between. Clients write them with dashes or underscores, and look for "include parameter" in
 * the text of the fault.
 */
export const inclusionOfParts = <const Part extends string>(...parts: readonly Part[]) =>
  z.codec(z.string(), z.custom<readonly Part[] | undefined>(), {
    decode(value, context) {
      const given = decodeCommaList(value)?.map((part) => part.replaceAll("-", "_"))
      if (given?.every((part) => parts.some((known) => known === part)) !== false) return given as Part[] | undefined
      const message = `Invalid include parameter: it may name ${parts.join(", ")}`
      context.issues.push({ code: "custom", message, input: value })
      return z.NEVER
    },
    encode: (given) => (given ?? []).join(","),
  })

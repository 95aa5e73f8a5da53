// One endpoint as data. The table of all routes is what the app mounts and what the permission matrix is checked against.
import type { ServingEngine } from "../../engine.ts"
import type { Pointers } from "../../contracts/tfe/json-api/errors.ts"
import type { RequestHeaders } from "../http/message.ts"

export interface ApiRequest {
  /** The engine, acting for the caller. */
  readonly engine: ServingEngine
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The request's absolute address as clients see it. */
  readonly url: URL
  readonly headers: RequestHeaders
  /** Which clients that save a state are asked to keep to; 0 for none. */
  readonly snapshotIntervalSeconds: number
  /** The JSON body; refuses wrong content types, oversized and malformed bodies. Undefined when empty. */
  body(): Promise<unknown>
  /** The raw body whole; refuses one beyond the bound of JSON bodies. */
  bytes(): Promise<Uint8Array>
  /**
   * The raw body as it comes, for uploads; whoever takes it bounds it. A piece is to be used only until the next one is asked for.
   * Refuses one that ends before it should.
   */
  stream(): AsyncIterable<Uint8Array>
}

export interface ApiResponse {
  readonly status: number
  /** JSON:API document; absent, unless there is `text`, means no body. */
  readonly document?: unknown
  /** A body of the content type in `headers`. */
  readonly text?: string
  /** Anything else, with its content type in `headers`. */
  readonly stream?: AsyncIterable<Uint8Array>
  /** The same of what may be very long. Its pieces are given away, so that nobody else may have them: each goes once it is sent. */
  readonly download?: AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE"

/** How much of a body an endpoint reads, where that differs from the server's settings. */
export interface BodyBounds {
  readonly bodyLimitBytes?: number
  /** Strings as long as the body itself, for documents that carry a whole file as base64. */
  readonly longStrings?: true
}

/** Enough for a document that holds a few names and settings. */
export const smallBodyLimitBytes = 64 * 1024

/** Endpoints of which none has a long body. */
export const withSmallBodies = (routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({ bodyLimitBytes: smallBodyLimitBytes, ...route }))

export interface Route extends BodyBounds {
  readonly method: Method
  /** Relative to `/api/v2`; parameters as `:workspace_id`. */
  readonly path: string
  /** Answers with a state, its outputs or sensitive values, so that it is recorded first even though it only reads. */
  readonly discloses?: true
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  /** Where faults of domain fields stand in this endpoint's request document. */
  readonly pointers?: Pointers
}

/** A route without a token (`contracts/tfe/open-address.ts`). */
export interface OpenRoute {
  readonly method: Method
  /** From the root. */
  readonly path: string
  /** As in `Route`. */
  readonly discloses?: true
  readonly handle: (request: Omit<ApiRequest, "engine">) => Promise<ApiResponse>
}

export const addressOf = ({ method, path }: Pick<OpenRoute, "method" | "path">) => ({ method, path })

export const ok = (document: unknown): ApiResponse => ({ status: 200, document })
export const noContent: ApiResponse = { status: 204 }

/** A path parameter that the route's own pattern guarantees. */
export function param(request: Pick<ApiRequest, "params">, name: string): string {
  const value = request.params[name]
  if (value === undefined) throw new Error(`route has no parameter :${name}`)
  return value
}

/** Whether `Accept` names the media type. */
export const accepts = ({ headers }: Pick<ApiRequest, "headers">, mediaType: string): boolean =>
  (headers.get("accept") ?? "").split(",").some((range) => range.split(";")[0]?.trim().toLowerCase() === mediaType)

/** The server's own address, as the client that asks knows it. */
export function baseOf({ url }: Pick<ApiRequest, "url">): string {
  const prefix = url.pathname.slice(0, url.pathname.indexOf("/api/v2/"))
  return `${url.origin}${prefix}`
}

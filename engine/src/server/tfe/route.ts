// One endpoint as data. The app serves the table of all routes, and the permission matrix is tested against it.
import type { ServingEngine } from "../../engine.ts"
import type { Pointers } from "../../contracts/tfe/json-api/errors.ts"
import type { RequestHeaders } from "../http/message.ts"

export interface ApiRequest {
  /** The engine with the caller's rights. */
  readonly engine: ServingEngine
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Absolute URL of the request, as clients see it. */
  readonly url: URL
  readonly headers: RequestHeaders
  /** Seconds between state snapshots that clients are asked to save during an apply; 0 disables them. */
  readonly snapshotIntervalSeconds: number
  /** Returns the JSON body, or undefined if it is empty. Throws for a wrong content type and for oversized or malformed bodies. */
  body(): Promise<unknown>
  /** Returns the whole raw body. Throws above the size limit of JSON bodies. */
  bytes(): Promise<Uint8Array>
  /**
   * Returns the raw body as a stream, for uploads. The caller must bound its size. A chunk is valid until the next one is requested. Throws
   * if the body ends early.
   */
  stream(): AsyncIterable<Uint8Array>
}

export interface ApiResponse {
  readonly status: number
  /** JSON:API document. Without it, `text` and a stream, the response has no body. */
  readonly document?: unknown
  /** Text body; `headers` contain its content type. */
  readonly text?: string
  /** Streamed body; `headers` contain its content type. */
  readonly stream?: AsyncIterable<Uint8Array>
  /** Streamed body that may be very long. The memory of each chunk is released after sending, so chunks must not be shared. */
  readonly download?: AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE"

/** Bounds of request bodies that differ from the server's settings. */
export interface BodyBounds {
  readonly bodyLimitBytes?: number
  /** Allows strings as long as the body, for documents that contain a file in base64. */
  readonly longStrings?: true
}

/** Enough for a document of a few names and settings. */
export const smallBodyLimitBytes = 64 * 1024

/** Sets the small bound on routes that have no bound of their own. */
export const withSmallBodies = (routes: readonly Route[]): readonly Route[] =>
  routes.map((route) => ({ bodyLimitBytes: smallBodyLimitBytes, ...route }))

export interface Route extends BodyBounds {
  readonly method: Method
  /** Relative to `/api/v2`; parameters as `:workspace_id`. */
  readonly path: string
  /** The response contains a state, its outputs or sensitive values. It is recorded in the audit log first, although it is a read. */
  readonly discloses?: true
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  /** Maps fields of the domain to JSON pointers in the request document. */
  readonly pointers?: Pointers
}

/** A route without a token (`contracts/tfe/open-address.ts`). */
export interface OpenRoute {
  readonly method: Method
  /** Path from the root. */
  readonly path: string
  readonly discloses?: true
  readonly handle: (request: Omit<ApiRequest, "engine">) => Promise<ApiResponse>
}

export const addressOf = ({ method, path }: Pick<OpenRoute, "method" | "path">) => ({ method, path })

export const ok = (document: unknown): ApiResponse => ({ status: 200, document })
export const noContent: ApiResponse = { status: 204 }

/** Returns a path parameter that the route's pattern guarantees. */
export function param(request: Pick<ApiRequest, "params">, name: string): string {
  const value = request.params[name]
  if (value === undefined) throw new Error(`route has no parameter :${name}`)
  return value
}

/** Returns true if `Accept` names the media type. */
export const accepts = ({ headers }: Pick<ApiRequest, "headers">, mediaType: string): boolean =>
  (headers.get("accept") ?? "").split(",").some((range) => range.split(";")[0]?.trim().toLowerCase() === mediaType)

/** Returns the server's public URL, as the client addressed it, without a trailing slash. */
export function baseOf({ url }: Pick<ApiRequest, "url">): string {
  const prefix = url.pathname.slice(0, url.pathname.indexOf("/api/v2/"))
  return `${url.origin}${prefix}`
}

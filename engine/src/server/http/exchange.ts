// One request on its way through the server, and what is learned of it on the way.
import { newUuid } from "../../core/ids.ts"
import type { RandomSource } from "../../core/random.ts"
import type { HttpRequest, HttpResponse } from "./message.ts"

export interface Exchange {
  readonly requestId: string
  /** The client's, where a proxy that is trusted says it; undefined on a unix socket, and where there is no socket. */
  readonly remoteAddress?: string | undefined
  /** The pattern of the route that answers, such as `/api/v2/workspaces/:id`; the app sets it. Bounds the metrics' labels. */
  route: string | undefined
  /** The address itself is the credential (signed uploads and downloads): logs name its pattern only. */
  secretPath?: boolean
  /** The request showed a token that is good. */
  authenticated?: boolean
}

export interface App {
  handle(request: HttpRequest, exchange?: Exchange): HttpResponse | Promise<HttpResponse>
}

export type Serve = (request: HttpRequest) => Promise<HttpResponse>

/** The path of an absolute URL without its query, sparing the cost of a `URL`. */
export function pathOf(url: string): string {
  const from = url.indexOf("/", url.indexOf("://") + 3)
  if (from === -1) return "/"
  const query = url.indexOf("?", from)
  return query === -1 ? url.slice(from) : url.slice(from, query)
}

/** Where bodies go that are long and come with a credential in their address. */
export const isUploadPath = (path: string): boolean => path.startsWith("/uploads/")

/** Below `/v1`, where the certificate API is. */
export const isPkiPath = (path: string): boolean => path === "/v1" || path.startsWith("/v1/")

const sane = /^[A-Za-z0-9._:+/=-]{1,128}$/

/** The caller's own id where it is harmless in a log line and a header; else a fresh one. */
export function requestIdOf(given: string | null, random: RandomSource): string {
  return given !== null && sane.test(given) ? given : newUuid(random)
}

// Context of one request, filled in while the server handles it.
import type { ClientCertificate } from "../../core/client-certificate.ts"
import { newUuid } from "../../core/ids.ts"
import type { RandomSource } from "../../core/random.ts"
import type { HttpRequest, HttpResponse } from "./message.ts"

export interface Exchange {
  readonly requestId: string
  /** Address of the client, as a trusted proxy forwarded it. Undefined on a unix socket and without a socket. */
  readonly remoteAddress?: string | undefined
  /** Certificate that the client presented to the device listener, or to a trusted proxy. */
  readonly clientCertificate?: ClientCertificate | undefined
  /** The request arrived on the device listener. Only endpoints for devices exist there. */
  readonly isDevice?: boolean
  /**
   * Pattern of the matched route, such as `/api/v2/workspaces/:id`; set by the app. Metrics use it as a label, because the number of paths
   * has no limit.
   */
  route: string | undefined
  /** The URL itself is the credential (signed uploads and downloads). Logs contain only the pattern of its path. */
  secretPath?: boolean
  /** Label of `/.well-known/est/<label>`; empty for the path without a label. Set for such paths only. */
  estLabel?: string
  /** The request carried a valid token. */
  authenticated?: boolean
}

export interface App {
  handle(request: HttpRequest, exchange?: Exchange): HttpResponse | Promise<HttpResponse>
}

export type Serve = (request: HttpRequest) => Promise<HttpResponse>

/** Returns the path of an absolute URL, without the query. Cheaper than parsing a `URL`. */
export function pathOf(url: string): string {
  const from = url.indexOf("/", url.indexOf("://") + 3)
  if (from === -1) return "/"
  const query = url.indexOf("?", from)
  return query === -1 ? url.slice(from) : url.slice(from, query)
}

/** Returns true for upload paths. Their bodies may be long, and their URLs contain a credential. */
export const isUploadPath = (path: string): boolean => path.startsWith("/uploads/")

/** Returns true for paths of the certificate API. */
export const isPkiPath = (path: string): boolean => path === "/v1" || path.startsWith("/v1/")

/** Returns true for paths that may have endpoints for devices: below mounts and auth methods, and EST's (RFC 7030, section 3.2.2). */
export const isDevicePath = (path: string): boolean =>
  (path.startsWith("/v1/") && !/^\/v1\/sys(?:\/|$)/.test(path)) || /^\/\.well-known\/est(?:\/|$)/.test(path)

/** Returns true for paths of EST's well-known URI (RFC 7030, section 3.2.2). */
export const isEstPath = (path: string): boolean => path.startsWith("/.well-known/est/")

const sane = /^[A-Za-z0-9._:+/=-]{1,128}$/

/** Returns the client's request id if it is safe in log lines and headers; otherwise returns a new one. */
export function requestIdOf(clientId: string | null, random: RandomSource): string {
  return clientId !== null && sane.test(clientId) ? clientId : newUuid(random)
}

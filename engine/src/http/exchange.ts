// One request on its way through the server: what the socket side knows, and what is learned on the way.

/** The socket's side of a request. */
export interface Connection {
  /** Undefined on a unix socket. */
  readonly remoteAddress: string | undefined
  /** Adds a header to the answer, whoever makes it. Cheaper than opening the headers of a finished `Response`. */
  setHeader(name: string, value: string): void
  /** What the members of `Exchange` with these names are; where there is no socket they are not there. */
  readonly whole?: () => Uint8Array | undefined
  readonly body?: () => AsyncIterable<Uint8Array>
  readonly send?: (content: AsyncIterable<Uint8Array>) => void
  readonly cut?: () => void
}

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
  /** All of the body, where it has come already and nobody has begun to read it, which it then is; undefined otherwise. */
  readonly whole?: (() => Uint8Array | undefined) | undefined
  /** The body as it comes from the socket, a piece of which is there until the next one is asked for. */
  readonly body?: (() => AsyncIterable<Uint8Array>) | undefined
  /** Takes the content of the answer, which has no body of its own then. */
  readonly send?: ((content: AsyncIterable<Uint8Array>) => void) | undefined
  /** Ends the connection: of an answer whose head is gone, nothing but the missing rest can tell that it has failed. */
  readonly cut?: (() => void) | undefined
}

export interface App {
  fetch(request: Request, exchange?: Exchange): Response | Promise<Response>
}

export type Serve = (request: Request, connection: Connection) => Promise<Response>

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

// Requests and responses as the API handles them: plain values, so that a request costs no web streams and no objects of the Fetch
// standard. `node-server.ts` makes them of a socket, `web-fetch.ts` of a `Request`.

export interface RequestHeaders {
  /** Returns null for a missing header. Values of repeated ones are joined by ", ". */
  get(name: string): string | null
  has(name: string): boolean
}

export interface HttpRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: RequestHeaders
  /** Address of the socket's peer; undefined on a unix socket or without a socket. */
  readonly remoteAddress: string | undefined
  /** Returns the body if it has arrived with the head and was not read before. */
  arrived(): Uint8Array | undefined
  /** Returns the rest of the body as it arrives. A chunk is valid until the next one is requested. Throws if the body ends early. */
  stream(): AsyncIterable<Uint8Array>
}

/**
 * A stream is read as fast as the client reads it, and the memory of its chunks is released once they are sent. Where it throws, the
 * connection is cut, since the head has been sent.
 */
export type ResponseBody = string | Uint8Array | AsyncIterable<Uint8Array> | null

export interface HttpResponse {
  readonly status: number
  /** By names in lower case; an array is sent as several lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ResponseBody
}

export const respond = (
  body: ResponseBody,
  { status = 200, headers = {} }: Partial<Pick<HttpResponse, "status" | "headers">> = {},
): HttpResponse => ({ status, headers, body })

export const isStream = (body: ResponseBody): body is AsyncIterable<Uint8Array> =>
  typeof body === "object" && body !== null && !(body instanceof Uint8Array)

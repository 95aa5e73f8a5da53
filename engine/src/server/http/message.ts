// Requests and responses of the API as plain values, which avoids the cost of web streams and objects of the Fetch standard.
// `node-server.ts` creates them from a socket, `web-fetch.ts` from a `Request`.

export interface RequestHeaders {
  /** Returns null for a missing header. Values of repeated headers are joined by ", ". */
  get(name: string): string | null
  has(name: string): boolean
}

export interface HttpRequest {
  readonly method: string
  /** Absolute URL. */
  readonly url: string
  readonly headers: RequestHeaders
  /** Address of the socket's peer; undefined on a unix socket or without a socket. */
  readonly remoteAddress: string | undefined
  /** Set on the device listener only. Its requests reach no endpoints but those for devices. */
  readonly deviceConnection?: DeviceConnection | undefined
  /** Returns the body if it arrived with the head and was not read before. */
  arrived(): Uint8Array | undefined
  /** Returns the rest of the body as it arrives. A chunk is valid until the next one is requested. Throws if the body ends early. */
  stream(): AsyncIterable<Uint8Array>
}

/** Connection of the listener that requests client certificates. */
export interface DeviceConnection {
  /** Returns the chain that the client presented, leaf first, in DER; undefined if it presented none. */
  clientChain(): readonly Uint8Array[] | undefined
}

/**
 * Body of a response. A stream is read at the client's pace, and the memory of its chunks is released after sending. If it throws, the
 * connection is closed, because the head was already sent.
 */
export type ResponseBody = string | Uint8Array | AsyncIterable<Uint8Array> | null

export interface HttpResponse {
  readonly status: number
  /** Header names are in lower case; each element of an array is sent as its own line. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ResponseBody
}

export const respond = (
  body: ResponseBody,
  { status = 200, headers = {} }: Partial<Pick<HttpResponse, "status" | "headers">> = {},
): HttpResponse => ({ status, headers, body })

export const isStream = (body: ResponseBody): body is AsyncIterable<Uint8Array> =>
  typeof body === "object" && body !== null && !(body instanceof Uint8Array)

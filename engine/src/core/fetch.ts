// Outgoing requests to addresses that users or clients choose: external policy services and hosts of ACME challenges. The caller bounds
// time and size.

export interface OutgoingRequest {
  readonly method: "GET" | "POST"
  /** URL with the scheme http or https. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Timeout for everything: name resolution, connection, redirects, and the last byte of the answer. */
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  /** Requests only the status and the headers. The body of the answer is not read; `body` is empty. */
  readonly dropsBody?: true
  /** Number of redirects to follow, for GET only. Each passes the same address check. Without it, a redirect is returned as the answer. */
  readonly maxRedirects?: number
  /** Allowed ports, also for redirects. Default: all. */
  readonly ports?: readonly number[]
  /** Default: the CAs of the system. */
  readonly trust?: Trust
  /** Client certificate and key for TLS, PEM. */
  readonly identity?: { readonly certificates: string; readonly privateKey: string }
  /** Closes the connection after the answer, because no further request to this host is expected. */
  readonly closes?: true
}

/** Server certificates to trust. All in PEM. */
export type Trust =
  /** CAs that replace those of the system. */
  | { readonly kind: "authorities"; readonly certificates: string }
  /** Accepts exactly these server certificates, regardless of their names. Certificates that they issued are not accepted. */
  | { readonly kind: "pinned"; readonly certificates: string }
  /** Accepts any server certificate. For answers that prove themselves. */
  | { readonly kind: "anybody" }

export interface OutgoingAnswer {
  readonly status: number
  /** Headers by lower-case name. The first value if a header is repeated. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Sends a request and returns the answer of any status. Throws `FetchFailure` if there is no answer, and no other error. */
export type Fetch = (request: OutgoingRequest) => Promise<OutgoingAnswer>

export type FetchFailureKind =
  | "unresolved" // no address for the name
  | "refused-address" // the name resolves to an address that this server must not reach
  | "unreachable" // no connection could be opened
  | "untrusted" // the certificate is not trusted, or TLS negotiation failed
  | "timeout"
  | "broken" // the answer is truncated or not HTTP
  | "too-large"
  | "redirects" // too many redirects, or one to a URL other than http or https

/** Failure of an outgoing request. Its message is a sentence that may be returned to clients. */
export class FetchFailure extends Error {
  readonly kind: FetchFailureKind
  constructor(kind: FetchFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "FetchFailure"
    this.kind = kind
  }
}

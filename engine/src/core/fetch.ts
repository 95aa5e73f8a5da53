// Requests that leave the engine for an address somebody else chose: the service that decides on certificates, the hosts
// that an ACME challenge names. Whoever asks says how long it may take and how much may come back.

export interface OutgoingRequest {
  readonly method: "GET" | "POST"
  /** http or https. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** For all of it: the name, the connection, redirects, and the last byte of the answer. */
  readonly timeoutMs: number
  readonly answerBytesMaximum: number
  /** Only the status and the headers are wanted: the answer's body is not waited for, and however long it is, it is empty. */
  readonly dropsBody?: true
  /** Followed for GET only, each through the same guard; without it an answer that redirects is the answer. */
  readonly redirectsMaximum?: number
  /** Where given, no other port is dialled, by a redirect neither. */
  readonly ports?: readonly number[]
  /** The system's authorities unless given. */
  readonly trust?: Trust
  /** Shown where the other side asks for a certificate; PEM. */
  readonly identity?: { readonly certificates: string; readonly privateKey: string }
  /** The other side is not asked again soon: nothing is kept open for that. */
  readonly closes?: true
}

/** All PEM. */
export type Trust =
  /** In the place of the system's. */
  | { readonly kind: "authorities"; readonly certificates: string }
  /** One of these and no other, whatever name is in it; what one of them has issued does not count. */
  | { readonly kind: "pinned"; readonly certificates: string }
  /** Whoever answers: what is asked proves itself. */
  | { readonly kind: "anybody" }

export interface OutgoingAnswer {
  readonly status: number
  /** By lower-case name; of one that comes several times, the first. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Throws `FetchFailure` where no answer comes, and for nothing else; whatever status answers is an answer. */
export type Fetch = (request: OutgoingRequest) => Promise<OutgoingAnswer>

export type FetchFailureKind =
  | "unresolved" // no address for the name
  | "refused-address" // the name leads where this server may not go
  | "unreachable" // no connection came about
  | "untrusted" // a connection, but not to whom it should be, or without agreement on TLS
  | "timeout"
  | "broken" // the answer ended early or is no HTTP
  | "too-large"
  | "redirects" // more than may be followed, or to no http or https URL

/** Its message is a sentence that may be shown to whoever asked. */
export class FetchFailure extends Error {
  readonly kind: FetchFailureKind
  constructor(kind: FetchFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "FetchFailure"
    this.kind = kind
  }
}

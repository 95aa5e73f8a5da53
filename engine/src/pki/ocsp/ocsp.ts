import type { Instant } from "../../core/time.ts"

export interface OcspAnswer {
  /** OCSPResponse, DER. An error status is a valid response as well (RFC 6960, section 4.2.1). */
  readonly der: Uint8Array
}

/** Response inside the server. */
export interface ServedOcspAnswer extends OcspAnswer {
  /** Undefined if caches must not store the response, because it is only for this client or this moment. */
  readonly keeping: OcspKeeping | undefined
}

/** Permitted HTTP caching of a response (RFC 5019, section 6). */
export interface OcspKeeping {
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
  /** Time from which a newer response exists, before `nextUpdate`. */
  readonly renewedAt: Instant
  /** Unique tag of these octets. */
  readonly tag: string
}

/** OCSP responder of a mount. Needs no permission. */
export interface Ocsp {
  /** Answers a request in DER. Errors are returned as OCSP responses; only `not-found` is thrown, if there is no such mount. */
  answer(request: Uint8Array): Promise<OcspAnswer>
}

/** OCSP responder inside the server, with caching of its responses. */
export interface ServedOcsp extends Ocsp {
  answer(request: Uint8Array): Promise<ServedOcspAnswer>
}

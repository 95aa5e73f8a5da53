import type { Instant } from "../../core/time.ts"

export interface OcspAnswer {
  /** OCSPResponse, DER; one that says that there is no answer is as good as any other (RFC 6960, section 4.2.1). */
  readonly der: Uint8Array
}

/** On the server's side. */
export interface ServedOcspAnswer extends OcspAnswer {
  /** Undefined for what is true for whoever asked, and for the moment: nobody may keep it. */
  readonly keeping: OcspKeeping | undefined
}

/** What an HTTP cache may do with an answer (RFC 5019, section 6). */
export interface OcspKeeping {
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
  /** From then on there is a newer answer, which is before `nextUpdate`. */
  readonly renewedAt: Instant
  /** Names these octets and no others. */
  readonly tag: string
}

/** The OCSP responder of a mount. Everybody may ask. */
export interface Ocsp {
  /** Of a request in DER. Every refusal is an answer; only `not-found`, where there is no such mount, is thrown. */
  answer(request: Uint8Array): Promise<OcspAnswer>
}

/** The same with what a server says of it besides. */
export interface ServedOcsp extends Ocsp {
  answer(request: Uint8Array): Promise<ServedOcspAnswer>
}

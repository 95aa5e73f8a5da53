// The audit log records callers, requests, answers and every use of an authority's key. An entry is written before the action, and is
// on disk before the answer is sent (docs/decisions/audit-before-answer.md).
import type { Caller } from "./caller.ts"
import { unprocessable } from "./errors.ts"
import type { IssuerId, KeyId } from "./ids.ts"

/** What a key signs. */
export type KeyUsePurpose = "certificate" | "crl" | "ocsp-response" | "certificate-request" | "signed-data"

export interface KeyUse {
  /** The path of the mount. */
  readonly mount: string
  readonly keyId: KeyId
  /** None yet where the key signs a request, or the root that will be the issuer. */
  readonly issuerId?: IssuerId
  readonly purpose: KeyUsePurpose
  /** Of the certificate that is signed, in hex with colons. */
  readonly serialNumber?: string
  /** Of the ACME order that it is for, and of the account that has made it. */
  readonly acmeOrder?: { readonly id: string; readonly accountId: string }
  /** SHA-256 of the bytes to be signed, hex. */
  readonly digest: string
}

/** Told what is about to be signed; it rejects where that cannot be written down, and then nothing may be signed. */
export type RecordKeyUse = (use: KeyUse) => Promise<void>

/** What a request asks for, in the words of the API that it came in by. */
export interface AuditedRequest {
  readonly caller: Caller
  readonly method: string
  /** Without query; where the address itself is a secret, its pattern. */
  readonly path: string
  /** What the path's rules call it: `create`, `update`, `list`. */
  readonly operation?: string
  readonly mount?: string
  readonly remoteAddress?: string
  /** Recorded as a salted hash: of a token that is not known. */
  readonly secret?: string
  /** Members whose text is recorded as salted hashes, but for those that `plainKeys` names. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly plainKeys?: readonly string[]
}

export interface AuditedResponse {
  readonly status: number
  readonly errors?: readonly string[]
}

/** The records of one request, or of one run of a job; they carry its id. */
export interface AuditTrail {
  /** Before anything is done about it. Throws `EngineError("out-of-service")` where it cannot be written down. */
  request(request: AuditedRequest): void
  /** The same, written together with all that comes in this turn of the event loop: resolves when it is in the file. */
  requestWritten(request: AuditedRequest): Promise<void>
  /** For one of which nothing stays unless a key is used: on file by then, at the latest. */
  signingRequest(request: AuditedRequest): void
  /** For a request that must not be held up: kept in memory for a moment, so that it costs next to nothing. */
  readRequest(request: AuditedRequest): void
  readonly keyUse: RecordKeyUse
  /** What was recorded so far begins to go onto the disk, while the work goes on that it is about. A use of a key does so itself. */
  flush(): void
  response(response: AuditedResponse): void
  /**
   * Resolves when all that was recorded is on disk, or up to the last `flush`, where there was one, and the rest is in the file;
   * rejects with `out-of-service` where it may not be. At once where there is neither a `request` nor a use of a key.
   */
  durable(): Promise<void>
}

/** At most one is given. */
export interface AuditOrigin {
  readonly requestId?: string
  readonly job?: string
}

export interface Audit {
  /** Whether requests that anybody may make without a token are recorded too. */
  readonly recordsOpenReads: boolean
  trail(origin: AuditOrigin): AuditTrail
  /** Goes on in a new file of the same name, where the old one was moved away. */
  reopen(): void
  /** How a text that a request brings is written. */
  hash(text: string): string
}

const settled = Promise.resolve()
const silentTrail: AuditTrail = {
  request() {},
  requestWritten: () => settled,
  signingRequest() {},
  readRequest() {},
  keyUse: () => settled,
  flush() {},
  response() {},
  durable: () => settled,
}

/** For engines without an audit log. */
export const noAudit: Audit = {
  recordsOpenReads: false,
  trail: () => silentTrail,
  reopen() {},
  hash() {
    throw unprocessable("There is no audit log.")
  },
}

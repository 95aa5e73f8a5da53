// The audit log records callers, requests, answers and every use of an authority's key. An entry is written before the action, and is
// on disk before the answer is sent (docs/decisions/audit-before-answer.md).
import type { Caller } from "./caller.ts"
import { unprocessable } from "./errors.ts"
import type { IssuerId, KeyId } from "./ids.ts"

/** Type of data that a key signs. */
export type KeyUsePurpose = "certificate" | "crl" | "ocsp-response" | "certificate-request" | "signed-data"

export interface KeyUse {
  /** Path of the mount. */
  readonly mount: string
  readonly keyId: KeyId
  /** Absent if the key signs a CSR, or a root certificate whose issuer does not exist yet. */
  readonly issuerId?: IssuerId
  readonly purpose: KeyUsePurpose
  /** Serial number of the signed certificate, in hex with colons. */
  readonly serialNumber?: string
  /** ACME order that the certificate is for, and the account that created it. */
  readonly acmeOrder?: { readonly id: string; readonly accountId: string }
  /** SHA-256 of the bytes to be signed, hex. */
  readonly digest: string
}

/** Records a use of a key before it signs. Rejects if the record cannot be written; the key must not be used then. */
export type RecordKeyUse = (use: KeyUse) => Promise<void>

/** Request as recorded in the audit log, in terms of its API. */
export interface AuditedRequest {
  readonly caller: Caller
  readonly method: string
  /** Path without the query. If the URL contains a secret, its pattern. */
  readonly path: string
  /** Operation in terms of path rules: `create`, `update`, `list`. */
  readonly operation?: string
  readonly mount?: string
  readonly remoteAddress?: string
  /** SHA-256 of the certificate that the client presented, in hex. */
  readonly clientCertificateSha256?: string
  /** Token that the server does not know. Recorded as a salted hash. */
  readonly secret?: string
  /** Parameters of the request. Their strings are recorded as salted hashes, except those of the members in `plainKeys`. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly plainKeys?: readonly string[]
}

export interface AuditedResponse {
  readonly status: number
  readonly errors?: readonly string[]
}

/** Writes the entries of one request or of one job run, with its id. */
export interface AuditTrail {
  /**
   * Writes the entry of a request before the request is executed. Throws `EngineError("out-of-service")` if the entry cannot be written.
   */
  request(request: AuditedRequest): void
  /** Like `request`, but shares one write with all entries of this turn of the event loop. Resolves when the entry is in the file. */
  requestWritten(request: AuditedRequest): Promise<void>
  /** Records a request that leaves no trace unless it uses a key. The entry is in the file before a key is used. */
  signingRequest(request: AuditedRequest): void
  /** Records a request that must not wait for the file. The entry is buffered in memory for a moment. */
  readRequest(request: AuditedRequest): void
  readonly keyUse: RecordKeyUse
  /** Starts to sync recorded entries to disk while the request is executed. `keyUse` calls it. */
  flush(): void
  response(response: AuditedResponse): void
  /**
   * Resolves when all entries are on disk. After a `flush`, it resolves when the entries before the flush are on disk and later ones are
   * in the file. Resolves at once if nothing but `readRequest` and `response` was called. Rejects with `out-of-service` if an entry may
   * be lost.
   */
  durable(): Promise<void>
}

/** Source of entries. At most one member is set. */
export interface AuditOrigin {
  readonly requestId?: string
  readonly job?: string
}

export interface Audit {
  /** True if requests that need no token, such as those for CRLs, are recorded too. */
  readonly recordsOpenReads: boolean
  trail(origin: AuditOrigin): AuditTrail
  /** Continues in a new file of the same name after the old one was moved (log rotation). */
  reopen(): void
  /** Returns the salted hash that the log contains in place of this text. */
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

/** Used by engines without an audit log. */
export const noAudit: Audit = {
  recordsOpenReads: false,
  trail: () => silentTrail,
  reopen() {},
  hash() {
    throw unprocessable("There is no audit log.")
  },
}

// A request for a certificate from an object of any API, and how it ends.
import { type CertificationRequest, UnacceptableInput } from "@chancery/engine/x509"
import type { Instant } from "@chancery/engine"
import { readCsr } from "../controllers/certificate/csr.ts"
import type { Reason } from "../controllers/event-reasons.ts"

/** Issuer that a request names. */
export interface IssuerReference {
  readonly kind: "Issuer" | "ClusterIssuer"
  readonly name: string
  /** Namespace of the Issuer; for a ClusterIssuer, that of the request, whose use of the connection must be allowed. */
  readonly namespace: string | undefined
}

export interface SigningRequest {
  /** The CSR. Its signature is verified by the engine. */
  readonly csr: CertificationRequest
  /** Undefined: the default of the role. */
  readonly durationMs: number | undefined
  readonly isCa: boolean
  /** Usages by the names of the Kubernetes API. */
  readonly usages: readonly string[]
  /** Names of the certificate. Undefined: those of the CSR. */
  readonly names?: ChosenNames
}

/** Names that the operator chooses, for a CSR without names. The role must take none from CSRs. */
export interface ChosenNames {
  readonly uris: readonly string[]
  readonly dnsNames: readonly string[]
}

export interface Signed {
  /** DER: the certificate, then its chain without the root. */
  readonly chain: readonly Uint8Array[]
  /** DER: the root, or the topmost known certificate. */
  readonly authority: Uint8Array
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export type SigningOutcome =
  | { readonly is: "issued"; readonly signed: Signed }
  /** A repetition would have the same result. */
  | { readonly is: "refused"; readonly reason: Reason; readonly message: string }
  | {
      readonly is: "pending"
      readonly reason: Reason
      readonly message: string
      /** Set if a change of another object ends the wait; the request is repeated then, or after this time. Otherwise it is repeated with a backoff. */
      readonly againAfterMs?: number
    }

/** The request can never be granted. */
export class RequestRefused extends Error {
  readonly reason: Reason

  constructor(reason: Reason, message: string) {
    super(message)
    this.name = "RequestRefused"
    this.reason = reason
  }
}

/** etcd limits objects to 1.5 MB; no usable CSR is as large. */
const maxCsrBytes = 256 * 1024

/** Parses the CSR of an object: the base64 of PEM. Throws `RequestRefused`. */
export function csrIn(encoded: string | undefined): CertificationRequest {
  if (encoded === undefined || encoded === "") throw new RequestRefused("InvalidRequest", "request is empty.")
  if (encoded.length > maxCsrBytes) throw new RequestRefused("InvalidRequest", "request is too large.")
  try {
    return readCsr(Buffer.from(encoded, "base64").toString("utf8"), maxCsrBytes)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw new RequestRefused("InvalidRequest", `request: ${error.message}`)
  }
}

import type { Caller } from "../../core/caller.ts"
import type { ClientCertificate } from "../../core/client-certificate.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { EstOutcome } from "./est-metrics.ts"
import type { EstAuditField, EstOperation, PathPolicy } from "./est-settings.ts"

/** Policy that a path names, or the label of `/.well-known/est/<label>`; the empty label is the path without one. */
export type EstPath =
  | { readonly kind: "default" }
  | { readonly kind: "label"; readonly label: string }
  | { readonly kind: "policy"; readonly policy: PathPolicy }

/** Credentials of a client. Basic credentials have precedence over a certificate, as in Vault. */
export interface EstCredentials {
  readonly basic?: { readonly name: string; readonly password: string }
  readonly clientCertificate?: ClientCertificate
  /** Address of the client. */
  readonly from?: string
}

export type EstAnswer =
  /** DER. */
  | { readonly kind: "issued"; readonly certificate: Uint8Array; readonly privateKey?: PrivateKey }
  | { readonly kind: "waiting"; readonly retryAfterMs: number }

export type EstEnrolment = "simpleenroll" | "simplereenroll"

/**
 * EST of one mount (RFC 7030). Methods throw `not-found` if EST is disabled, or if the path has no policy. Those that issue check the
 * policies of the caller, whom `authenticate` returns.
 */
export interface EstServer {
  /**
   * Returns the caller that acts for a client. Throws `unauthenticated` without credentials or with wrong ones, and `forbidden` if the auth
   * method does not let the client log in.
   */
  authenticate(credentials: EstCredentials): Promise<Caller>
  /** Counts a request whose outcome is known. */
  countRequest(operation: EstOperation, outcome: EstOutcome): void
  /** Fields of CSRs that the audit log contains. */
  auditFields(): Promise<readonly EstAuditField[]>
  /** Returns the chain of the issuer, DER. */
  certificates(path: EstPath): Promise<readonly Uint8Array[]>
  /** Returns CsrAttrs, DER; undefined if the policy accepts any key. */
  csrAttributes(path: EstPath): Promise<Uint8Array | undefined>
  /**
   * Issues a certificate for a CSR in DER. A re-enrolment needs the certificate that it renews, with which the client proves its key: one
   * that the mount has issued, that is valid, and that has the subject and the names of the CSR.
   */
  enroll(
    path: EstPath,
    operation: EstEnrolment,
    csr: Uint8Array,
    clientCertificate?: ClientCertificate,
  ): Promise<EstAnswer>
  /** Generates a key and issues its certificate, with the names of a CSR in DER. The key is not stored. */
  generateKey(path: EstPath, csr: Uint8Array): Promise<EstAnswer>
}

/** Mount that serves a path below `/.well-known/est`. */
export interface EstLabelTarget {
  readonly mountPath: string
  readonly policy: PathPolicy
}

/** Returns undefined if no mount has registered the label. */
export type FindEstLabel = (label: string) => Promise<EstLabelTarget | undefined>

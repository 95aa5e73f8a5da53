// A public client of EST, as the suite of est-clients.test.ts uses it. Certificates, CSRs and keys (PKCS #8) are DER.
import type { KeyType } from "../../../engine/src/x509/key-algorithm.ts"

export interface EstIdentity {
  readonly certificate: Uint8Array
  readonly privateKey: Uint8Array
}

export interface EstRequest {
  readonly operation: "simpleenroll" | "simplereenroll" | "serverkeygen"
  readonly label: string
  readonly csr: Uint8Array
  readonly basic?: { readonly name: string; readonly password: string }
  /** Presented in the TLS handshake. */
  readonly identity?: EstIdentity
  /** Default: the latest version of the client. */
  readonly tlsVersion?: "1.2" | "1.3"
}

export type EstResult =
  | { readonly kind: "issued"; readonly certificates: readonly Uint8Array[]; readonly privateKey?: Uint8Array }
  | { readonly kind: "waiting"; readonly retryAfterSeconds: number }
  | { readonly kind: "rejected"; readonly status: number; readonly text: string }

export interface EstClient extends AsyncDisposable {
  /** Generates a key, and signs a CSR with the name as common name and as DNS name. */
  request(keyType: KeyType, name: string): Promise<{ readonly csr: Uint8Array; readonly privateKey: Uint8Array }>
  /** Returns the answer of `cacerts`. */
  authorities(label: string): Promise<readonly Uint8Array[]>
  /** Returns the object identifiers in the answer of `csrattrs`, in the notation of the client. Empty: any CSR is acceptable. */
  attributes(label: string): Promise<readonly string[]>
  send(request: EstRequest): Promise<EstResult>
}

export interface EstServerAddress {
  /** Host and port of the device listener. */
  readonly host: string
  /** File with the certificate that verifies the server. */
  readonly authorityFile: string
}

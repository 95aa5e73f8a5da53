/**
 * Certificates that a client presented. The client has proved that it has the leaf's private key: to this server in the TLS handshake, or
 * to a trusted proxy that reports them. Nothing else was verified.
 */
export interface ClientCertificate {
  /** DER. The leaf is first; the others are in the order in which the client sent them. */
  readonly chain: readonly Uint8Array[]
}

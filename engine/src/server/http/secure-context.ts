// The certificate of a TLS listener, and its replacement at run time. New handshakes use the new certificate; open connections are
// unchanged.
import { constants } from "node:crypto"
import { createSecureContext, type SecureContextOptions } from "node:tls"

/** Certificate chain and key in PEM; the chain begins with the certificate of the key. */
export interface TlsIdentity {
  readonly certificate: string
  readonly privateKey: string
}

export interface SecureContextSource {
  readonly current: () => TlsIdentity
  /** Calls `listener` with each new identity. Returns a function that unsubscribes it. */
  readonly onChange: (listener: (identity: TlsIdentity) => void) => () => void
}

/** The identity cannot be used for TLS. The message never contains text of the key. */
export class UnusableIdentity extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "UnusableIdentity"
  }
}

/** An identity that several listeners share. The constructor throws `UnusableIdentity` if no handshake could use `first`. */
export class ReloadableIdentity implements SecureContextSource {
  #identity: TlsIdentity
  readonly #listeners = new Set<(identity: TlsIdentity) => void>()

  constructor(first: TlsIdentity) {
    rejectUnusable(first)
    this.#identity = first
  }

  readonly current = (): TlsIdentity => this.#identity

  readonly onChange = (listener: (identity: TlsIdentity) => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Replaces the identity. Throws `UnusableIdentity` and keeps the old one if `next` cannot be used. */
  replace(next: TlsIdentity): void {
    rejectUnusable(next)
    this.#identity = next
    for (const listener of this.#listeners) listener(next)
  }
}

/** Only AEAD suites with forward secrecy (RFC 9325, section 4.2). All suites of TLS 1.3 are such. */
const cipherSuites = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":")

/** Returns all options with each identity, because Node resets those that a replacement omits. */
export const secureContextOptions = ({ certificate, privateKey }: TlsIdentity): SecureContextOptions => ({
  cert: certificate,
  key: privateKey,
  minVersion: "TLSv1.2",
  ciphers: cipherSuites,
})

/**
 * Options of the device listener. No session is resumed there: a session ticket carries the client's certificate without its chain. No CA is
 * named to clients, because any of them may be trusted by an endpoint.
 */
export const deviceContextOptions = (identity: TlsIdentity): SecureContextOptions => ({
  ...secureContextOptions(identity),
  ca: [],
  secureOptions: constants.SSL_OP_NO_TICKET,
})

function rejectUnusable(identity: TlsIdentity): void {
  // Node treats an empty text as a missing certificate and would then reject every handshake.
  if (!identity.certificate.includes("-----BEGIN ")) throw new UnusableIdentity("the certificate is not valid PEM")
  if (!identity.privateKey.includes("-----BEGIN ")) throw new UnusableIdentity("the private key is not valid PEM")
  try {
    createSecureContext(secureContextOptions(identity))
  } catch (error) {
    throw new UnusableIdentity((error as Error).message, error)
  }
}

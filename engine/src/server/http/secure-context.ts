// The certificate that a listener shows, and its replacement while it listens: new handshakes see the new one, open
// connections stay as they are.
import { createSecureContext, type SecureContextOptions } from "node:tls"

/** Both PEM; the chain has the certificate of the key first. */
export interface TlsIdentity {
  readonly certificate: string
  readonly privateKey: string
}

export interface SecureContextSource {
  readonly current: () => TlsIdentity
  /** Calls back with every identity that takes the place of the current one, until what it answers is called. */
  readonly onChange: (listener: (identity: TlsIdentity) => void) => () => void
}

/** The key's text is no reason why: it never becomes part of the message. */
export class UnusableIdentity extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "UnusableIdentity"
  }
}

/** What one holds and several listeners show. Throws `UnusableIdentity` for a first one that no handshake could use. */
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

  /** Throws `UnusableIdentity`, and keeps the old one. */
  replace(next: TlsIdentity): void {
    rejectUnusable(next)
    this.#identity = next
    for (const listener of this.#listeners) listener(next)
  }
}

/** AEAD with forward secrecy alone (RFC 9325, section 4.2). The suites of TLS 1.3 are all of that kind. */
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

/** Given anew with every identity: Node forgets whatever a replacement leaves out. */
export const secureContextOptions = ({ certificate, privateKey }: TlsIdentity): SecureContextOptions => ({
  cert: certificate,
  key: privateKey,
  minVersion: "TLSv1.2",
  ciphers: cipherSuites,
})

function rejectUnusable(identity: TlsIdentity): void {
  // Node takes an empty text for no certificate at all, and would then refuse every handshake.
  if (!identity.certificate.includes("-----BEGIN ")) throw new UnusableIdentity("the certificate is no PEM")
  if (!identity.privateKey.includes("-----BEGIN ")) throw new UnusableIdentity("the private key is no PEM")
  try {
    createSecureContext(secureContextOptions(identity))
  } catch (error) {
    throw new UnusableIdentity((error as Error).message, error)
  }
}

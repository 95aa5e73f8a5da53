import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"

/** What issuing and signing give back (specification 2.2), in bytes; encodings are the wire's. */
export interface IssuedCertificate {
  /** DER. */
  readonly certificate: Uint8Array
  /** DER. */
  readonly issuingCa: Uint8Array
  /** DER; from the issuing certificate up. */
  readonly caChain: readonly Uint8Array[]
  readonly serialNumber: SerialNumber
  readonly notBefore: Instant
  readonly notAfter: Instant
  /** Where the key was made here. It is not stored. */
  readonly privateKey: PrivateKey | undefined
  readonly lease: { readonly id: string; readonly durationMs: number } | undefined
  readonly warnings: readonly string[]
}

import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { IssueRequestInput } from "../issue/request.ts"

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
  readonly warnings: readonly string[]
}

export interface IssueInput extends IssueRequestInput {
  /** Self-signed certificates are left out of the chain. */
  readonly removeRootsFromChain?: boolean
  /** A ttl above the maximum is refused unless it is to be cut. */
  readonly overMaximum?: "refuse" | "clamp"
}

export interface IssuerChoice {
  /** Instead of the role's own. */
  readonly issuerRef?: string
}

/** Certificates of a mount: how they come about, and what became of them. */
export interface Certificates {
  /** Makes a key and a certificate for it (specification 4.4). */
  issue(role: string, input: IssueInput, choice?: IssuerChoice): Promise<IssuedCertificate>
}

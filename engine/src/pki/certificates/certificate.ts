// What is kept of a certificate that was issued: the certificate itself, and what it can be found by.
import type { IssuerId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { MountId } from "../mount.ts"

export interface CertificateRecord {
  readonly mountId: MountId
  /** Unique in the mount. */
  readonly serialNumber: SerialNumber
  /** DER. */
  readonly certificate: Uint8Array
  /** Null where the issuer is not in the mount, as for an imported root. */
  readonly issuerId: IssuerId | null
  /** The role it was issued by; null for what no role decides. */
  readonly role: string | null
  readonly commonName: string
  /** Common name and subject alternative names as text, lower case, each once. */
  readonly names: readonly string[]
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export interface CertificateStore {
  /** Throws `EngineError("conflict")` where the mount has a certificate with this serial number. */
  insert(certificate: CertificateRecord): Promise<void>
  find(mountId: MountId, serialNumber: SerialNumber): Promise<CertificateRecord | undefined>
}

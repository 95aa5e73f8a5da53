import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import type { SubjectValues } from "../names/subject.ts"

/** What a certificate authority's own certificate is to say (pki-facts 2.1). What is left out is empty, or the default. */
export interface RootInput extends Partial<SubjectValues> {
  /** Unique in the mount. */
  readonly issuerName?: string
  readonly keyName?: string
  /** `rsa`, `ec` or `ed25519`; `rsa` unless given. */
  readonly keyType?: string
  /** 0: what is usual for the type. */
  readonly keyBits?: number
  /** 0: the mount's default. */
  readonly ttlMs?: number
  readonly notAfter?: Instant | null
  /** -1: any number of intermediates. */
  readonly maxPathLength?: number
  readonly signatureBits?: number
  readonly usePss?: boolean
}

export interface GeneratedRoot {
  readonly issuerId: IssuerId
  readonly issuerName: string | null
  readonly keyId: KeyId
  readonly keyName: string | null
  /** DER. */
  readonly certificate: Uint8Array
  readonly serialNumber: SerialNumber
  readonly notAfter: Instant
  /** Only where it was to be exported, and only this once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

/** The authorities of a mount (pki-facts 2.1 to 2.4). */
export interface Issuers {
  generateRoot(input: RootInput): Promise<GeneratedRoot>
}

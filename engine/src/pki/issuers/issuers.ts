import type { IssuerId, KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { IssuerSettings } from "./issuer.ts"

export interface IssuerView {
  readonly id: IssuerId
  readonly name: string | null
  readonly keyId: KeyId | null
  readonly isDefault: boolean
  /** DER. */
  readonly certificate: Uint8Array
  /** DER; the issuer itself first. */
  readonly caChain: readonly Uint8Array[]
  readonly serialNumber: string
  readonly settings: IssuerSettings
  readonly revokedAt: Instant | null
}

/** The authorities of a mount (pki-facts 2.1 to 2.4). */
export interface Issuers {
  list(): Promise<readonly IssuerView[]>
  /** By id, by name, or `default`. */
  get(reference: string): Promise<IssuerView>
}

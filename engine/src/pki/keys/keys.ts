import type { KeyId } from "../../core/ids.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"
import type { PrivateKey } from "../../x509/private-key.ts"

export interface KeyView {
  readonly id: KeyId
  readonly name: string | null
  readonly type: KeyType
  /** 0 where the type has one size only. */
  readonly bits: number
  readonly isDefault: boolean
  /** Octets of the identifier that certificates of this key carry. */
  readonly subjectKeyId: Uint8Array
}

export interface KeyInput {
  /** Unique in the mount; none unless given. */
  readonly name?: string
  /** `rsa`, `ec` or `ed25519`; `rsa` unless given. */
  readonly type?: string
  /** 0: what is usual for the type. */
  readonly bits?: number
}

export interface GeneratedKey {
  readonly key: KeyView
  /** Only where it was to be exported, and only this once. */
  readonly privateKey: PrivateKey | undefined
}

/** Keys of a mount's authorities (pki-facts 2.5). A private key can be made, brought in and used, never read back. */
export interface Keys {
  list(): Promise<readonly KeyView[]>
  /** By id, by name, or `default`. */
  get(reference: string): Promise<KeyView>
  generate(input: KeyInput, options?: { readonly exported?: boolean }): Promise<GeneratedKey>
}

// Keys of certificate authorities. The store holds the public key and the sealed private key, which no endpoint returns. Keys of leaf
// certificates are not stored.
import type { KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"
import type { PrivateKey } from "../../x509/private-key.ts"
import type { KeyPage } from "../mounts/key-page.ts"
import type { MountId } from "../mounts/mount.ts"
import type { KeyFields } from "./key-request.ts"

export interface CaKey {
  readonly id: KeyId
  readonly mountId: MountId
  /** Unique in its mount. */
  readonly name: string | null
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array
  readonly createdAt: Instant
}

export interface CaKeyStore {
  list(mountId: MountId): Promise<readonly CaKey[]>
  /** `privateKey` is PKCS#8, DER; it is sealed before it is written. */
  insert(key: CaKey, privateKey: Uint8Array): Promise<void>
  /** PKCS#8, DER; undefined where there is no such key. */
  privateKey(id: KeyId): Promise<Uint8Array | undefined>
  rename(key: Pick<CaKey, "id" | "mountId">, name: string | null): Promise<void>
  remove(key: Pick<CaKey, "id" | "mountId">): Promise<void>
}

export interface KeyView {
  readonly id: KeyId
  readonly name: string | null
  readonly type: KeyType
  /** Octets; what certificates for the key say of it (RFC 5280, section 4.2.1.2, method 1). */
  readonly subjectKeyIdentifier: Uint8Array
}

export interface KeySummary extends Pick<KeyView, "id" | "name"> {
  readonly isDefault: boolean
}

/** A source that has keys of its own does not make one. */
export interface NewKeyInput extends Pick<KeyFields, "keyName" | "keyType" | "keyBits"> {
  readonly keySource?: Exclude<KeyFields["keySource"], "existing">
}

export interface GeneratedKey extends KeyView {
  /** Only where it was to be exported, and only this once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

export interface SavedKey extends KeyView {
  readonly warnings: readonly string[]
}

/** Keys of a mount's issuers. A reference is an id, a name, or `default`. Stored private keys are never returned. */
export interface Keys {
  /** In the order they came; in parts in the order of their ids. */
  list(page?: KeyPage): Promise<readonly KeySummary[]>
  get(reference: string): Promise<KeyView>
  generate(input: NewKeyInput): Promise<GeneratedKey>
  /** One private key in PEM. One that is in the mount already stays as it is. */
  import(privateKey: string, name?: string): Promise<SavedKey>
  /** Null or empty: it has no name any more. */
  rename(reference: string, name: string | null): Promise<SavedKey>
  /** Refused while an issuer has the key. One that is not there is deleted already. The answer is what to warn of. */
  delete(reference: string): Promise<readonly string[]>
}

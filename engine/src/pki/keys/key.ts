// Keys of certificate authorities. The database holds the public key and the sealed private key, which no endpoint returns. Keys of
// leaf certificates are not stored.
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
  /** Inserts a key. `privateKey` is PKCS#8, DER; it is sealed before it is written. */
  insert(key: CaKey, privateKey: Uint8Array): Promise<void>
  /** Returns the private key as PKCS#8, DER; undefined if there is no such key. */
  privateKey(id: KeyId): Promise<Uint8Array | undefined>
  rename(key: Pick<CaKey, "id" | "mountId">, name: string | null): Promise<void>
  remove(key: Pick<CaKey, "id" | "mountId">): Promise<void>
}

export interface KeyView {
  readonly id: KeyId
  readonly name: string | null
  readonly type: KeyType
  /** Octets of the subject key identifier in certificates for this key (RFC 5280, section 4.2.1.2, method 1). */
  readonly subjectKeyIdentifier: Uint8Array
}

export interface KeySummary extends Pick<KeyView, "id" | "name"> {
  readonly isDefault: boolean
}

/** Key to generate. The source `existing` is excluded, because it generates nothing. */
export interface NewKeyInput extends Pick<KeyFields, "keyName" | "keyType" | "keyBits"> {
  readonly keySource?: Exclude<KeyFields["keySource"], "existing">
}

export interface GeneratedKey extends KeyView {
  /** Present only if the key is exported. It is returned only once. */
  readonly privateKey: PrivateKey | undefined
  readonly warnings: readonly string[]
}

export interface SavedKey extends KeyView {
  readonly warnings: readonly string[]
}

/** Keys of a mount's issuers. A reference is an id, a name, or `default`. Stored private keys are never returned. */
export interface Keys {
  /** Returns all keys ordered by creation time, or a page of them ordered by id. */
  list(page?: KeyPage): Promise<readonly KeySummary[]>
  get(reference: string): Promise<KeyView>
  generate(input: NewKeyInput): Promise<GeneratedKey>
  /** Imports one private key in PEM. A key that the mount has already stays unchanged. */
  import(privateKey: string, name?: string): Promise<SavedKey>
  /** Renames a key. Null or empty removes its name. */
  rename(reference: string, name: string | null): Promise<SavedKey>
  /** Deletes a key. Throws while an issuer uses it. Succeeds if there is no such key. Returns warnings. */
  delete(reference: string): Promise<readonly string[]>
}

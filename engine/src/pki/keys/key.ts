// Keys of certificate authorities. The store holds the public key and the sealed private key, which no endpoint returns. Keys of leaf
// certificates are not stored.
import type { KeyId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { MountId } from "../mount.ts"

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

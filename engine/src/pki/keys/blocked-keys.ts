import type { KeyPage } from "../key-page.ts"
import type { BlockedKey, KeyDigest } from "./blocked-key.ts"

/** Exactly one of the first two. */
export interface BlockedKeyInput {
  /** PEM of a public key, a certificate or a certificate request. */
  readonly key?: string
  /** SHA-256 of the SubjectPublicKeyInfo, hexadecimal. */
  readonly spkiSha256?: string
  readonly comment?: string
}

/**
 * The server's list of keys that no mount certifies, imports or accepts for an ACME account. A revocation with reason
 * keyCompromise adds the key of its certificate.
 */
export interface BlockedKeys {
  /** In the order of the digests; at most `keysMaximum` at once. */
  list(page?: KeyPage): Promise<readonly KeyDigest[]>
  get(digest: string): Promise<BlockedKey>
  /** Replaces only the comment if the key is blocked already. */
  add(input: BlockedKeyInput): Promise<BlockedKey>
  /** Succeeds if the key is not blocked. */
  delete(digest: string): Promise<void>
}

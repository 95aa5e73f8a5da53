// Keys that are never certified again, because others know their private keys.
import { type Fault, invalid } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import { parseCertificate } from "../../x509/certificate.ts"
import { parseCertificationRequest } from "../../x509/certification-request.ts"
import { sha256 } from "../../x509/digest.ts"
import { readPem } from "../../x509/pem.ts"
import { isPrivateKeyLabel } from "../../x509/private-key.ts"
import { readPublicKey } from "../../x509/public-key.ts"
import type { SerialNumber } from "../../x509/serial-number.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { KeyPage } from "../mounts/key-page.ts"

/** SHA-256 of a SubjectPublicKeyInfo (DER), lowercase hexadecimal. */
export type KeyDigest = string & { readonly brand: "key-digest" }

/** `revocation`: a certificate was revoked with reason keyCompromise. `entry`: added by API or command. */
export const blockedKeySources = ["revocation", "entry"] as const
export type BlockedKeySource = (typeof blockedKeySources)[number]

/** Entry of the list of blocked keys. */
export interface BlockedKey {
  readonly spkiSha256: KeyDigest
  readonly source: BlockedKeySource
  /** Path of the mount that revoked a certificate for the key; empty for `entry`. */
  readonly mount: string
  /** Serial number of that certificate; null for `entry`. */
  readonly serialNumber: SerialNumber | null
  readonly comment: string
  readonly createdAt: Instant
}

export interface BlockedKeyRepository {
  /** Returns digests in ascending order. */
  list(page: { readonly after: string; readonly limit: number }): Promise<readonly KeyDigest[]>
  find(digest: KeyDigest): Promise<BlockedKey | undefined>
  isBlocked(digest: KeyDigest): Promise<boolean>
  /** Adds a key. If it is blocked already, the existing entry stays. */
  add(key: BlockedKey): Promise<void>
  /** Adds a key, or replaces its comment if it is blocked already. */
  save(key: BlockedKey): Promise<void>
  remove(digest: KeyDigest): Promise<void>
}

export const keyDigestOf = (spki: Uint8Array): KeyDigest => sha256(spki) as KeyDigest

/** Parses a digest in hexadecimal, in either case, with or without colons. Throws `invalid`. */
export function parseKeyDigest(text: string): KeyDigest {
  const digits = text.replaceAll(":", "").toLowerCase()
  if (/^[0-9a-f]{64}$/.test(digits)) return digits as KeyDigest
  throw invalid([{ field: ["spkiSha256"], detail: "spki_sha256 must be 64 hexadecimal digits" }])
}

const maxPemLength = 64 * 1_024
const maxComment = 1_024

/**
 * Returns the digest of the key in a PEM block: a public key, a certificate or a certificate request. Private keys are rejected,
 * because clients must not send them. Throws `invalid`.
 */
export function readKeyDigest(pem: string): KeyDigest {
  if (pem.trim() === "") throw invalid([keyFault("is required")])
  try {
    const [block, ...others] = readPem(pem, maxPemLength)
    if (block === undefined || others.length > 0) throw new UnacceptableInput("must be one PEM block")
    if (isPrivateKeyLabel(block.label))
      throw new UnacceptableInput("must not be a private key; send its public key or digest")
    return keyDigestOf(spkiIn(block))
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw invalid([keyFault(error.message.startsWith("must ") ? error.message : `cannot be read: ${error.message}`)])
  }
}

function spkiIn({ label, bytes }: { readonly label: string; readonly bytes: Uint8Array }): Uint8Array {
  switch (label) {
    case "PUBLIC KEY":
      return readPublicKey(bytes).spki
    case "CERTIFICATE":
      return parseCertificate(bytes).subjectPublicKeyInfo
    case "CERTIFICATE REQUEST":
    case "NEW CERTIFICATE REQUEST":
      return parseCertificationRequest(bytes).subjectPublicKeyInfo
    default:
      throw new UnacceptableInput("must have the label PUBLIC KEY, CERTIFICATE or CERTIFICATE REQUEST")
  }
}

const keyFault = (problem: string): Fault => ({ field: ["key"], detail: `key ${problem}` })

export function commentFaults(comment: string): readonly Fault[] {
  const field = ["comment"]
  if (comment.length > maxComment)
    return [{ field, detail: `comment must not be longer than ${maxComment} characters` }]
  return /\p{Cc}/u.test(comment) ? [{ field, detail: "comment must not contain control characters" }] : []
}

/** Key to block. Exactly one of `key` and `spkiSha256` must be present. */
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
  /** Returns digests in ascending order, at most `maxListedKeys` at once. */
  list(page?: KeyPage): Promise<readonly KeyDigest[]>
  get(digest: string): Promise<BlockedKey>
  /** Blocks a key. If it is blocked already, only the comment changes. */
  add(input: BlockedKeyInput): Promise<BlockedKey>
  /** Unblocks a key. Succeeds if it is not blocked. */
  delete(digest: string): Promise<void>
}

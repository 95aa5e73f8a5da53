// Nonces (RFC 8555, section 6.5): the server stores a nonce only when it is used. The nonce itself holds its expiry and an HMAC over
// expiry, mount and directory (docs/decisions/acme-nonces.md).
import type { RandomSource } from "../../core/random.ts"
import type { Signer } from "../../core/signing.ts"
import { type Instant, isAhead, minuteMs } from "../../core/time.ts"
import { AcmeProblem } from "../problem.ts"

const lifetimeMs = 60 * minuteMs
/** Servers of one database accept each other's nonces, so their clocks may differ. */
const toleranceMs = minuteMs
/** Expiry in milliseconds, and 10 random octets. An HMAC-SHA256 follows. */
const digestOctets = 16
const timeOctets = 6
const nonceText = /^[\w-]{64}$/

export interface NonceAuthority {
  readonly signer: Pick<Signer, "sign" | "verify">
  /** Mount and directory in which the nonce is valid. */
  readonly scope: string
}

export function newNonce({ signer, scope }: NonceAuthority, random: RandomSource, now: Instant): string {
  const digest = Buffer.alloc(digestOctets)
  digest.writeUIntBE(now + lifetimeMs, 0, timeOctets)
  digest.set(random.bytes(digestOctets - timeOctets), timeOctets)
  const code = Buffer.from(signer.sign(signedText(scope, digest)), "base64url")
  return Buffer.concat([digest, code]).toString("base64url")
}

export interface ReadNonce {
  /** Unique for each nonce; begins with its expiry (`endOfNonces`). */
  readonly digest: Uint8Array
  readonly expiresAt: Instant
}

/** Throws `badNonce` if the nonce is forged, of another directory, expired, or of a future time. */
export function readNonce(nonce: string, { signer, scope }: NonceAuthority, now: Instant): ReadNonce {
  const octets = Buffer.from(nonce, "base64url")
  const digest = octets.subarray(0, digestOctets)
  const code = octets.subarray(digestOctets).toString("base64url")
  if (!nonceText.test(nonce) || !signer.verify(signedText(scope, digest), code))
    throw badNonce("The nonce was not issued by this directory.")
  const expiresAt = digest.readUIntBE(0, timeOctets)
  if (expiresAt <= now) throw badNonce("The nonce has expired.")
  // Such a nonce would outlive the record of its use.
  if (isAhead(expiresAt, now + lifetimeMs, toleranceMs))
    throw badNonce("The nonce was issued while the server's clock was ahead.")
  return { digest, expiresAt }
}

const signedText = (scope: string, digest: Buffer): string => `acme-nonce\n${scope}\n${digest.toString("base64url")}`

/** Returns a bound: exactly the digests of expired nonces are less. */
export function endOfNonces(now: Instant): Uint8Array {
  const octets = Buffer.alloc(timeOctets)
  octets.writeUIntBE(now + 1, 0, timeOctets)
  return octets
}

export const usedNonce = () => badNonce("The nonce was already used.")

const badNonce = (detail: string) => new AcmeProblem("badNonce", detail)

// Nonces (RFC 8555, section 6.5; architecture 0.20): whoever hands one out writes nothing, because it says itself until when it
// counts, for which directory, and that it is ours. It is written down when it is used.
import type { RandomSource } from "../core/random.ts"
import type { Signer } from "../core/signing.ts"
import { type Instant, minuteMs } from "../core/time.ts"
import { AcmeProblem } from "./problem.ts"

const lifetimeMs = 60 * minuteMs
const timeOctets = 6
/** With the time a multiple of three: the code behind them then goes on in base64url, and clients read all of it as one. */
const randomOctets = 18
const bodyLength = ((timeOctets + randomOctets) / 3) * 4

export interface NonceGround {
  readonly signer: Signer
  /** Mount and directory. */
  readonly scope: string
}

export function newNonce({ signer, scope }: NonceGround, random: RandomSource, now: Instant): string {
  const octets = Buffer.alloc(timeOctets + randomOctets)
  octets.writeUIntBE(now + lifetimeMs, 0, timeOctets)
  octets.set(random.bytes(randomOctets), timeOctets)
  const body = octets.toString("base64url")
  return body + signer.sign(messageOf(scope, body))
}

export interface ReadNonce {
  /** Tells it from all others. */
  readonly digest: Uint8Array
  readonly expiresAt: Instant
}

/** Throws `badNonce` for one that is not ours, not this directory's, or too old. */
export function readNonce(nonce: string, { signer, scope }: NonceGround, now: Instant): ReadNonce {
  const [body, code] = [nonce.slice(0, bodyLength), nonce.slice(bodyLength)]
  if (!/^[\w-]+$/.test(nonce) || !signer.verify(messageOf(scope, body), code))
    throw badNonce("The nonce is none of this directory's.")
  const octets = Buffer.from(body, "base64url")
  const expiresAt = octets.readUIntBE(0, timeOctets)
  if (expiresAt <= now) throw badNonce("The nonce is too old.")
  return { digest: octets, expiresAt }
}

export const usedNonce = () => badNonce("The nonce has been used.")

const badNonce = (detail: string) => new AcmeProblem("badNonce", detail)
/** The key signs addresses too; no message of one kind is one of the other. */
const messageOf = (scope: string, body: string): string => `acme-nonce\n${scope}\n${body}`

// Public keys as RFC 7517 writes them, held to the same rules as those that are certified.
import { createPublicKey, hash, type KeyObject, verify } from "node:crypto"
import { type PublicKey, readPublicKey } from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

/** Public members only. */
export type PublicJwk = Readonly<Record<string, string>>

/** What tells one key from another, by its type, in the order of RFC 7638, section 3.2. */
const members: Readonly<Record<string, readonly string[]>> = {
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
}
const memberMaximum = 4_096

export interface ReadJwk {
  /** With the members that make it, and no others. */
  readonly jwk: PublicJwk
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string
  readonly key: PublicKey
}

/** Throws `UnacceptableInput` for what is no public key of a kind that is strong enough, and for one that is not public. */
export function readJwk(value: unknown): ReadJwk {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UnacceptableInput("The key is no JSON object")
  const given = value as Readonly<Record<string, unknown>>
  const names =
    typeof given["kty"] === "string" && Object.hasOwn(members, given["kty"]) ? members[given["kty"]] : undefined
  if (names === undefined) throw new UnacceptableInput("Keys are of the type EC, OKP or RSA")
  if (Object.hasOwn(given, "d") || Object.hasOwn(given, "k")) throw new UnacceptableInput("The key is a private one")
  const jwk: Record<string, string> = {}
  for (const name of names) {
    const member = given[name]
    if (typeof member !== "string" || member.length > memberMaximum || !/^[\w-]+$/.test(member))
      throw new UnacceptableInput(`The key's member ${name} cannot be read`)
    jwk[name] = member
  }
  return { jwk, thumbprint: hash("sha256", JSON.stringify(jwk), "base64url"), key: heldKey(jwk).key }
}

/** RFC 7518, section 3.1; RFC 8037. */
const signatures = {
  ES256: { kty: "EC", crv: "P-256", digest: "sha256" },
  ES384: { kty: "EC", crv: "P-384", digest: "sha384" },
  ES512: { kty: "EC", crv: "P-521", digest: "sha512" },
  RS256: { kty: "RSA", crv: undefined, digest: "sha256" },
  EdDSA: { kty: "OKP", crv: "Ed25519", digest: null },
} as const
export type JwsAlgorithm = keyof typeof signatures
/** What may be signed with; what a MAC makes is no signature. */
export const jwsAlgorithms = Object.keys(signatures) as readonly JwsAlgorithm[]

/** Whether a signature of RFC 7515 is one of the key, which is `readJwk`'s, by an algorithm that is made for it. */
export function isJwsSignature(
  jwk: PublicJwk,
  { algorithm, input, signature }: { algorithm: JwsAlgorithm; input: string; signature: Uint8Array },
): boolean {
  const { kty, crv, digest } = signatures[algorithm]
  if (jwk["kty"] !== kty || jwk["crv"] !== crv) return false
  return verify(digest, Buffer.from(input), { key: heldKey(jwk).object, dsaEncoding: "ieee-p1363" }, signature)
}

interface HeldKey {
  readonly object: KeyObject
  readonly key: PublicKey
}

/** To read a key takes as long as to verify a signature with it, and whoever asks once asks six times for an order. */
const heldKeys = new Map<string, HeldKey>()
const heldMaximum = 1_000

/** Of those in the very objects that they were asked for with before. */
const heldByObject = new WeakMap<PublicJwk, HeldKey>()

function heldKey(jwk: PublicJwk): HeldKey {
  const same = heldByObject.get(jwk)
  if (same !== undefined) return same
  const text = JSON.stringify(jwk)
  const known = heldKeys.get(text)
  if (known !== undefined) {
    heldByObject.set(jwk, known)
    return known
  }
  const held = read(jwk)
  // To read one of a thousand again costs less than to note which of them was asked for last.
  if (heldKeys.size >= heldMaximum) heldKeys.clear()
  heldKeys.set(text, held)
  return held
}

function read(jwk: PublicJwk): HeldKey {
  let object
  let spki
  try {
    object = createPublicKey({ key: jwk, format: "jwk" })
    spki = object.export({ type: "spki", format: "der" })
  } catch (error) {
    throw new UnacceptableInput("The key cannot be read", error)
  }
  return { object, key: readPublicKey(spki) }
}

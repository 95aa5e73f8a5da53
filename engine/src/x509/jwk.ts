// Public keys as JWKs (RFC 7517). The same rules apply as to keys of certificates.
import { createPublicKey, hash, type KeyObject } from "node:crypto"
import { type PublicKey, readPublicKey, rsaPublicNumbers } from "./public-key.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

/** A JWK with public members only. */
export type PublicJwk = Readonly<Record<string, string>>

/** Members that identify a key, by key type, in the order of RFC 7638, section 3.2. */
const members: Readonly<Record<string, readonly string[]>> = {
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
}
const maxMember = 4_096

export interface ReadJwk {
  /** JWK with the identifying members only. */
  readonly jwk: PublicJwk
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string
  readonly key: PublicKey
}

/**
 * Reads a public JWK. Throws `UnacceptableInput` if it is malformed, private, weak or of an unsupported type. The encoding must be the
 * canonical one of RFC 7518, because a second form of a key would have a second thumbprint.
 */
export function readJwk(value: unknown): ReadJwk {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UnacceptableInput("The key must be an object")
  const given = value as Readonly<Record<string, unknown>>
  const names =
    typeof given["kty"] === "string" && Object.hasOwn(members, given["kty"]) ? members[given["kty"]] : undefined
  if (names === undefined) throw new UnacceptableInput('"kty" of the key must be EC, OKP or RSA')
  if (Object.hasOwn(given, "d") || Object.hasOwn(given, "k"))
    throw new UnacceptableInput("The key is a private key; send only the public key")
  const jwk: Record<string, string> = {}
  for (const name of names) {
    const member = given[name]
    if (typeof member !== "string" || member.length > maxMember || !/^[\w-]+$/.test(member))
      throw new UnacceptableInput(`The key's member ${name} cannot be read`)
    jwk[name] = member
  }
  const object = keyObject(jwk)
  const key = readPublicKey(spkiOf(object))
  assertCanonical(jwk, object)
  return { jwk, thumbprint: hash("sha256", JSON.stringify(jwk), "base64url"), key }
}

/** Returns true if a JWK, as `readJwk` returned it, is this key. */
export function isKeyOfJwk(jwk: PublicJwk, key: PublicKey): boolean {
  const isMember = (name: string, octets: Uint8Array) =>
    Buffer.compare(Buffer.from(jwk[name] ?? "", "base64url"), octets) === 0
  switch (key.algorithm.type) {
    case "rsa": {
      const { modulus, exponent } = rsaPublicNumbers(key)
      return jwk["kty"] === "RSA" && isMember("n", modulus) && isMember("e", exponent)
    }
    case "ec": {
      const { bits } = key.algorithm
      const coordinates = key.octets.subarray(1)
      const half = coordinates.length / 2
      return (
        jwk["crv"] === `P-${bits}` &&
        isMember("x", coordinates.subarray(0, half)) &&
        isMember("y", coordinates.subarray(half))
      )
    }
    default:
      return jwk["crv"] === "Ed25519" && isMember("x", key.octets)
  }
}

/** Requires coordinates of full length (RFC 7518, section 6.2.1.2), integers without leading zeros (section 6.3.1), and no spare bits. */
function assertCanonical(jwk: PublicJwk, object: KeyObject): void {
  const canonical = object.export({ format: "jwk" }) as PublicJwk
  const odd = Object.keys(jwk).find((name) => canonical[name] !== jwk[name])
  if (odd !== undefined)
    throw new UnacceptableInput(`The key's member ${odd} is not encoded as RFC 7518, section 6, requires`)
}

function keyObject(jwk: PublicJwk): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" })
  } catch (error) {
    throw new UnacceptableInput("The key cannot be read", error)
  }
}

const spkiOf = (object: KeyObject): Buffer => object.export({ type: "spki", format: "der" })

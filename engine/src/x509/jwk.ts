// Public keys as JWKs (RFC 7517), held to the same rules as keys that are certified.
import { createPublicKey, hash, type KeyObject } from "node:crypto"
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

/**
 * Throws `UnacceptableInput` for what is no public key of a kind that is strong enough, for one that is not public, and for one
 * that is not written as RFC 7518 requires: a second form of a key would have a second thumbprint.
 */
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
  const object = keyObject(jwk)
  const key = readPublicKey(spkiOf(object))
  assertCanonical(jwk, object)
  return { jwk, thumbprint: hash("sha256", JSON.stringify(jwk), "base64url"), key }
}

/** Returns whether a stored JWK is a key. Its strength was checked when it was stored. */
export const isKeyOfJwk = (jwk: PublicJwk, { spki }: Pick<PublicKey, "spki">): boolean =>
  Buffer.compare(spkiOf(keyObject(jwk)), spki) === 0

/** Coordinates of their full length (RFC 7518, section 6.2.1.2), integers without leading zeros (section 6.3.1), no spare bits. */
function assertCanonical(jwk: PublicJwk, object: KeyObject): void {
  const canonical = object.export({ format: "jwk" }) as PublicJwk
  const odd = Object.keys(jwk).find((name) => canonical[name] !== jwk[name])
  if (odd !== undefined)
    throw new UnacceptableInput(`The key's member ${odd} is not in the one form that RFC 7518, section 6, has for it`)
}

function keyObject(jwk: PublicJwk): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: "jwk" })
  } catch (error) {
    throw new UnacceptableInput("The key cannot be read", error)
  }
}

const spkiOf = (object: KeyObject): Buffer => object.export({ type: "spki", format: "der" })

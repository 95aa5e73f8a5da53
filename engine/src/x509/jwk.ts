// Public keys as RFC 7517 writes them, held to the same rules as those that are certified.
import { createPublicKey, hash } from "node:crypto"
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
  return { jwk, thumbprint: hash("sha256", JSON.stringify(jwk), "base64url"), key: readKey(jwk) }
}

function readKey(jwk: PublicJwk): PublicKey {
  let spki
  try {
    spki = createPublicKey({ key: jwk, format: "jwk" }).export({ type: "spki", format: "der" })
  } catch (error) {
    throw new UnacceptableInput("The key cannot be read", error)
  }
  return readPublicKey(spki)
}

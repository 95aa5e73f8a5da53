import type { RandomSource } from "./random.ts"
import type { Instant } from "./time.ts"

/** Prefixes as the public API uses them, so that clients which match on them (`^ws-[a-zA-Z0-9]{16}$`) keep working. */
export type IdPrefix =
  | "org"
  | "user"
  | "ou"
  | "bulk"
  | "team"
  | "tws"
  | "tprj"
  | "at"
  | "prj"
  | "sshkey"
  | "tool"
  | "apool"
  | "oc"
  | "ot"
  | "ghain"
  | "ws"
  | "tag"
  | "tb"
  | "drp"
  | "sv"
  | "sdoc"
  | "wsout"
  | "run"
  | "plan"
  | "apply"
  | "claim"
  | "wsc"
  | "cv"
  | "ia"
  | "wsr"
  | "readme"
  | "var"
  | "asmtres"
  | "eng"
  | "mnt"
  | "auth"
  | "iss"
  | "key"
  | "acct"
  | "order"
  | "authz"
  | "whk"

declare const brand: unique symbol
/** A text id that cannot be passed where another kind's id is meant. */
export type Id<Prefix extends IdPrefix> = string & { readonly [brand]: Prefix }

export type OrganizationId = Id<"org">
export type UserId = Id<"user">
export type TeamId = Id<"team">
export type ProjectId = Id<"prj">
export type WorkspaceId = Id<"ws">
export type TagId = Id<"tag">
export type RunId = Id<"run">
export type StateVersionId = Id<"sv">
export type ConfigurationVersionId = Id<"cv">
export type IssuerId = Id<"iss">
export type KeyId = Id<"key">

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const idLength = 16
// 232 = 4 × 58: bytes below it map onto the alphabet without bias, the rest are drawn again.
const unbiasedLimit = 232

/** `<prefix>-` and 16 base58 characters. */
export const newId = <P extends IdPrefix>(prefix: P, random: RandomSource): Id<P> =>
  `${prefix}-${randomText(idLength, random)}` as Id<P>

/** Milliseconds in base58, until the year 6028. */
const timeLength = 8

/**
 * The same, the first half the time of its making: of what is made all the time, and never guessed at, because it is told to nobody
 * but its owner. Made after one another they lie beside one another in the store, which writes a page for many of them.
 */
export function newOrderedId<P extends IdPrefix>(prefix: P, random: RandomSource, now: Instant): Id<P> {
  let time = ""
  for (let rest = Math.floor(now); time.length < timeLength; rest = Math.floor(rest / 58))
    time = (alphabet[rest % 58] ?? "") + time
  return `${prefix}-${time}${randomText(idLength - timeLength, random)}` as Id<P>
}

function randomText(length: number, random: RandomSource): string {
  let text = ""
  while (text.length < length) {
    for (const byte of random.bytes(length * 2)) {
      if (byte < unbiasedLimit && text.length < length) text += alphabet[byte % 58]
    }
  }
  return text
}

const octetsInHex = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, "0"))

/** RFC 9562, version 4. */
export function newUuid(random: RandomSource): string {
  const octets = random.bytes(16)
  let hex = ""
  for (let index = 0; index < 16; index += 1) hex += octetsInHex[octets[index] ?? 0]
  return uuidOf(hex)
}

/** Of at least 128 bits in hex that are as good as random. */
export function uuidOf(hex: string): string {
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16)
  const [time, middle, high] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)]
  return `${time}-${middle}-4${high}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

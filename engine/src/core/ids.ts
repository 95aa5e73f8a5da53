import type { RandomSource } from "./random.ts"
import type { Instant } from "./time.ts"

/** Prefixes of the HCP Terraform API, because clients match on them (`^ws-[a-zA-Z0-9]{16}$`). */
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
  | "re"
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
  | "enrol"

declare const brand: unique symbol
/** Id with a type that differs by prefix, so that ids of different resources cannot be confused. */
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

/** Returns a random id: `<prefix>-` and 16 base58 characters. */
export const newId = <P extends IdPrefix>(prefix: P, random: RandomSource): Id<P> =>
  `${prefix}-${randomText(idLength, random)}` as Id<P>

/** Base58 characters for milliseconds; enough until the year 6028. */
const timeLength = 8

/**
 * Returns a time-ordered id: 8 characters of time and 8 random ones. Use for high-volume rows whose ids only their owner sees. Sequential
 * ids keep index inserts local, so that many of them share a page write.
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

/** Returns a random UUID (RFC 9562, version 4). */
export function newUuid(random: RandomSource): string {
  const octets = random.bytes(16)
  let hex = ""
  for (let index = 0; index < 16; index += 1) hex += octetsInHex[octets[index] ?? 0]
  return uuidOf(hex)
}

/** Formats at least 128 random bits in hex as a UUID of version 4. */
export function uuidOf(hex: string): string {
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16)
  const [time, middle, high] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)]
  return `${time}-${middle}-4${high}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

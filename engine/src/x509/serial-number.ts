// Serial numbers of certificates (RFC 5280, section 4.1.2.2): positive, at most 20 octets, drawn at random.
import type { RandomSource } from "../core/random.ts"

declare const brand: unique symbol
/** Magnitude as lower-case hex octets joined by ":", without leading zeros: `4f:00:a1`. */
export type SerialNumber = string & { readonly [brand]: "serial number" }

const maxOctets = 20

/** Returns 159 random bits, the maximum for a positive INTEGER of 20 octets. A constraint of the database guarantees uniqueness. */
export function newSerialNumber(random: RandomSource): SerialNumber {
  const octets = random.bytes(maxOctets)
  octets[0] = (octets[0] ?? 0) & 0x7f
  const serialNumber = serialNumberOf(octets)
  // A source that yields 159 zero bits is broken; drawing again would not help.
  if (serialNumber === undefined) throw new Error("The random source yields nothing but zeros.")
  return serialNumber
}

/** Formats a big-endian magnitude, leading zeros allowed. Returns undefined for zero and for more than 20 octets. */
export function serialNumberOf(magnitude: Uint8Array): SerialNumber | undefined {
  let start = 0
  while (start < magnitude.length && magnitude[start] === 0) start += 1
  const length = magnitude.length - start
  if (length === 0 || length > maxOctets) return undefined
  const hex = Buffer.from(magnitude.buffer, magnitude.byteOffset + start, length).toString("hex")
  let text = hex.slice(0, 2)
  for (let at = 2; at < hex.length; at += 2) text += `:${hex.slice(at, at + 2)}`
  return text as SerialNumber
}

/** Formats octets of a serial number from the database. Throws if they are not one. */
export function keptSerialNumber(octets: Uint8Array): SerialNumber {
  const serialNumber = serialNumberOf(octets)
  if (serialNumber === undefined) throw new Error("the stored serial number is not valid")
  return serialNumber
}

/** Returns the magnitude, big-endian; the first octet is not zero. */
export const serialNumberOctets = (serialNumber: SerialNumber): Uint8Array =>
  Buffer.from(serialNumber.replaceAll(":", ""), "hex")

/** Some tools write 21 octets, including the sign octet. */
const text = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){0,19})?$/i

/** Parses hex octets in either case, joined by ":" or "-" throughout. Returns undefined if the text is not a serial number. */
export function parseSerialNumber(given: string): SerialNumber | undefined {
  return text.test(given) ? serialNumberOf(Buffer.from(given.replaceAll(/[:-]/g, ""), "hex")) : undefined
}

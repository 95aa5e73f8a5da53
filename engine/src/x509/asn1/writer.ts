// DER writer (X.690). A value is octets or a tree that knows its length. `encode` therefore allocates one array and copies every octet
// once, however deep the nesting.
import type { Instant } from "../../core/time.ts"
import { type CivilTime, civilTime } from "./calendar.ts"
import { encodeOidContent } from "./oid.ts"
import { oids } from "./oids.ts"
import { contextConstructed, tag } from "./tag.ts"

/** One encoded value, several consecutive ones, or the tree of one. `length` counts all octets. */
export type Der = Uint8Array | DerTree

interface DerTree {
  readonly identifier: number
  readonly contentLength: number
  readonly length: number
  readonly parts: readonly Der[]
}

export function encode(der: Der): Uint8Array {
  if (der instanceof Uint8Array) return der
  const octets = new Uint8Array(der.length)
  write(der, octets, 0)
  return octets
}

/** Returns a value with any tag and a content of `parts`. */
export function tree(identifier: number, parts: readonly Der[]): Der {
  let contentLength = 0
  for (const part of parts) contentLength += part.length
  return { identifier, contentLength, length: 1 + lengthOctets(contentLength) + contentLength, parts }
}

/** Returns a value with any tag and this content. */
export function primitive(identifier: number, content: ArrayLike<number>): Uint8Array {
  const octets = new Uint8Array(1 + lengthOctets(content.length) + content.length)
  octets.set(content, writeHeader(identifier, content.length, octets, 0))
  return octets
}

export const sequence = (parts: readonly Der[]): Der => tree(tag.sequence, parts)

/** Returns a SET OF with its elements in ascending order of their encodings (X.690, clause 11.6). */
export const setOf = (elements: readonly Der[]): Der => tree(tag.set, ascending(elements))

export const ascending = (elements: readonly Der[]): readonly Der[] =>
  elements.length < 2 ? elements : elements.map(encode).toSorted((a, b) => Buffer.compare(a, b))

/** Returns `[number] EXPLICIT`, or an implicitly tagged SEQUENCE or SET of these parts. */
export const context = (number: number, parts: readonly Der[]): Der => tree(contextConstructed(number), parts)

export const octetString = (content: Der): Der => tree(tag.octetString, [content])

/** Returns a BIT STRING of whole octets; see `namedBits` for lists of flags. */
export const bitString = (content: Der): Der => tree(tag.bitString, [noUnusedBits, content])

const noUnusedBits = Uint8Array.of(0)

export const derTrue = Uint8Array.of(tag.boolean, 1, 0xff)
export const derNull = Uint8Array.of(tag.null, 0)

/** Returns an INTEGER. A `number` must be a safe integer. */
export function integer(value: number | bigint): Uint8Array {
  if (typeof value === "number" && value >= 0 && value < 0x80) return Uint8Array.of(tag.integer, 1, value)
  const content: number[] = []
  let rest = BigInt(value)
  do {
    content.push(Number(BigInt.asUintN(8, rest)))
    rest >>= 8n
  } while (!((rest === 0n && (content.at(-1) ?? 0) < 0x80) || (rest === -1n && (content.at(-1) ?? 0) >= 0x80)))
  return primitive(tag.integer, content.toReversed())
}

/** Returns a non-negative INTEGER from its big-endian magnitude. Ignores leading zeros. */
export function unsignedInteger(magnitude: Uint8Array): Uint8Array {
  let start = 0
  while (start < magnitude.length - 1 && magnitude[start] === 0) start += 1
  const pad = (magnitude[start] ?? 0x80) >= 0x80 ? 1 : 0
  const contentLength = magnitude.length - start + pad
  const octets = new Uint8Array(1 + lengthOctets(contentLength) + contentLength)
  const at = writeHeader(tag.integer, contentLength, octets, 0)
  copy(magnitude, start, octets, at + pad)
  return octets
}

/** Returns a BIT STRING of flags by bit number, without trailing zero bits (X.690, clause 11.2.2). */
export const namedBits = (bits: Iterable<number>): Uint8Array => primitive(tag.bitString, namedBitsContent(bits))

/** Returns the content octets of `namedBits`, for implicit tags. */
export function namedBitsContent(bits: Iterable<number>): Uint8Array {
  let highest = -1
  const flags: number[] = []
  for (const bit of bits) {
    const at = bit >> 3
    while (flags.length <= at) flags.push(0)
    flags[at] = (flags[at] ?? 0) | (0x80 >> (bit & 7))
    if (bit > highest) highest = bit
  }
  return Uint8Array.of(highest < 0 ? 0 : 7 - (highest & 7), ...flags)
}

/** Throws `RangeError` for invalid identifiers. Input from clients must be checked before. */
export function objectIdentifier(text: string): Uint8Array {
  const known = knownIdentifiers.get(text)
  if (known !== undefined) return known
  const content = encodeOidContent(text)
  if (content === undefined) throw new RangeError(`${text} is not a valid object identifier`)
  return primitive(tag.objectIdentifier, content)
}

const knownIdentifiers: ReadonlyMap<string, Uint8Array> = new Map(
  Object.values(oids).map((text) => [text, primitive(tag.objectIdentifier, encodeOidContent(text) ?? [])]),
)

export const utf8String = (text: string): Uint8Array => textOf(tag.utf8String, text)

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

/** The text must satisfy `isPrintableText`. */
export const printableString = (text: string): Uint8Array => asciiText(tag.printableString, text)

/** The text must be ASCII. */
export const ia5String = (text: string): Uint8Array => asciiText(tag.ia5String, text)

/** Returns ASCII text under any tag, for implicitly tagged IA5Strings. Throws `RangeError` for any other character. */
export function asciiText(identifier: number, text: string): Uint8Array {
  const octets = asciiOctets(identifier, text)
  if (octets === undefined) throw new RangeError("the text contains characters outside ASCII")
  return octets
}

function textOf(identifier: number, text: string): Uint8Array {
  return asciiOctets(identifier, text) ?? primitive(identifier, Buffer.from(text, "utf8"))
}

function asciiOctets(identifier: number, text: string): Uint8Array | undefined {
  const octets = new Uint8Array(1 + lengthOctets(text.length) + text.length)
  const start = writeHeader(identifier, text.length, octets, 0)
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit > 0x7f) return undefined
    octets[start + at] = unit
  }
  return octets
}

/**
 * Returns the `Time` of certificates and CRLs: UTCTime for 1950 to 2049, GeneralizedTime for any other year (RFC 5280, section 4.1.2.5).
 */
export function time(instant: Instant): Uint8Array {
  const civil = civilTime(instant)
  return timeOf(civil.year >= 1950 && civil.year <= 2049 ? tag.utcTime : tag.generalizedTime, civil)
}

export const generalizedTime = (instant: Instant): Uint8Array => timeOf(tag.generalizedTime, civilTime(instant))

function timeOf(identifier: number, { year, month, day, hour, minute, second }: CivilTime): Uint8Array {
  const pairs = [year % 100, month, day, hour, minute, second]
  if (identifier === tag.generalizedTime) pairs.unshift(Math.floor(year / 100))
  const octets = new Uint8Array(2 + 2 * pairs.length + 1)
  octets[0] = identifier
  octets[1] = octets.length - 2
  let at = 2
  for (const pair of pairs) {
    octets[at] = 0x30 + Math.floor(pair / 10)
    octets[at + 1] = 0x30 + (pair % 10)
    at += 2
  }
  octets[at] = 0x5a
  return octets
}

function write(der: Der, octets: Uint8Array, start: number): number {
  if (der instanceof Uint8Array) return copy(der, 0, octets, start)
  let at = writeHeader(der.identifier, der.contentLength, octets, start)
  for (const part of der.parts) at = write(part, octets, at)
  return at
}

/** Up to this many octets, a loop is faster than a call of `set`. */
const shortCopy = 24

function copy(source: Uint8Array, from: number, octets: Uint8Array, start: number): number {
  const count = source.length - from
  if (count > shortCopy) octets.set(from === 0 ? source : source.subarray(from), start)
  else for (let at = 0; at < count; at += 1) octets[start + at] = source[from + at] as number
  return start + count
}

function lengthOctets(length: number): number {
  if (length < 0x80) return 1
  if (length < 0x100) return 2
  if (length < 0x1_0000) return 3
  return length < 0x100_0000 ? 4 : 5
}

/** Returns identifier and length of a value whose content is written separately. */
export function header(identifier: number, contentLength: number): Uint8Array {
  const octets = new Uint8Array(1 + lengthOctets(contentLength))
  writeHeader(identifier, contentLength, octets, 0)
  return octets
}

/** Writes the shortest form of the length (X.690, clause 10.1) and returns the start of the content. */
function writeHeader(identifier: number, length: number, octets: Uint8Array, start: number): number {
  octets[start] = identifier
  const count = lengthOctets(length)
  if (count === 1) octets[start + 1] = length
  else {
    octets[start + 1] = 0x7f + count
    let rest = length
    for (let at = start + count; at > start + 1; at -= 1) {
      octets[at] = rest % 0x100
      rest = Math.floor(rest / 0x100)
    }
  }
  return start + 1 + count
}

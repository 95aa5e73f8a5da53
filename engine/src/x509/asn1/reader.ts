// Strict DER reader (X.690, clauses 8, 10 and 11): definite lengths in their shortest form, minimal integers, no encoded defaults, no
// trailing octets. It reads in one pass and returns views on the input instead of copies. Every failure is a `MalformedDer`. Time and
// memory grow with the length of the input and never with the lengths that it claims.
import type { Instant } from "../../core/time.ts"
import { instantOf } from "./calendar.ts"
import { MalformedDer } from "./malformed-der.ts"
import { decodeOidContent } from "./oid.ts"
import { isPrintable } from "./printable.ts"
import { contextConstructed, isConstructed, tag } from "./tag.ts"

/** Nesting of constructed values; a certificate needs about ten levels. */
export const maxDepth = 32

/** Reads consecutive values between two positions. `field` names the value in errors. */
export class DerReader {
  readonly #bytes: Uint8Array
  readonly #document: string
  readonly #end: number
  readonly #depth: number
  #at: number
  #contentEnd = 0

  /** `document` names the whole structure in errors. */
  constructor(bytes: Uint8Array, document: string, start = 0, end = bytes.length, depth = 0) {
    this.#bytes = bytes
    this.#document = document
    this.#at = start
    this.#end = end
    this.#depth = depth
  }

  get done(): boolean {
    return this.#at === this.#end
  }

  /** Identifier octet of the next value, or undefined at the end. */
  get next(): number | undefined {
    return this.#at < this.#end ? this.#bytes[this.#at] : undefined
  }

  /** Throws if octets are left. */
  finish(field: string): void {
    if (!this.done) this.refuse(field, "is followed by extra octets")
  }

  refuse(field: string, problem: string, offset = this.#at): never {
    throw new MalformedDer(this.#document, field, problem, offset)
  }

  /** Returns a reader of the parts of a constructed value. */
  enter(identifier: number, field: string): DerReader {
    const start = this.#header(identifier, field)
    if (this.#depth >= maxDepth) this.refuse(field, `is nested more than ${maxDepth} levels deep`)
    this.#at = this.#contentEnd
    return new DerReader(this.#bytes, this.#document, start, this.#contentEnd, this.#depth + 1)
  }

  sequence(field: string): DerReader {
    return this.enter(tag.sequence, field)
  }

  /** Reads `[number]`, constructed. Returns undefined if the next value has another tag. */
  optional(number: number, field: string): DerReader | undefined {
    return this.next === contextConstructed(number) ? this.enter(contextConstructed(number), field) : undefined
  }

  /** Reads a SET OF, or an implicitly tagged one, and checks that its elements are in ascending order. */
  setOf(field: string, identifier: number = tag.set): DerReader {
    const elements = this.enter(identifier, field)
    elements.#rejectDisorder(field)
    return elements
  }

  /** Returns the next value with its header. Throws if it is malformed at any depth, or has a tag other than `identifier`, if given. */
  value(field: string, identifier?: number): Uint8Array {
    const start = this.#at
    const found = this.next
    this.#header(identifier ?? found ?? 0, field)
    this.#at = this.#contentEnd
    this.#refuseMalformed(start, this.#at, field)
    return this.#view(start, this.#at)
  }

  /** Returns the next value with its header, checking only the header. The caller must check its parts. */
  whole(field: string, identifier: number): Uint8Array {
    const start = this.#at
    this.#header(identifier, field)
    this.#at = this.#contentEnd
    return this.#view(start, this.#contentEnd)
  }

  /** Returns the content octets of a primitive value. */
  content(identifier: number, field: string): Uint8Array {
    const start = this.#header(identifier, field)
    this.#at = this.#contentEnd
    return this.#view(start, this.#contentEnd)
  }

  octetString(field: string): Uint8Array {
    return this.content(tag.octetString, field)
  }

  boolean(field: string): boolean {
    const start = this.#header(tag.boolean, field)
    const octet = this.#bytes[start]
    if (this.#contentEnd - start !== 1 || (octet !== 0 && octet !== 0xff)) this.refuse(field, "is not a valid BOOLEAN")
    this.#at = this.#contentEnd
    return octet === 0xff
  }

  /** Reads `BOOLEAN DEFAULT FALSE`, which is absent if it is false (X.690, clause 11.5). */
  flag(field: string): boolean {
    if (this.next !== tag.boolean) return false
    const at = this.#at
    return this.boolean(field) || this.refuse(field, "contains its default value", at)
  }

  null(field: string): void {
    const start = this.#header(tag.null, field)
    if (start !== this.#contentEnd) this.refuse(field, "is a NULL with content")
    this.#at = start
  }

  /** Returns the content octets of an INTEGER: two's complement in the fewest octets. */
  integer(field: string, identifier: number = tag.integer): Uint8Array {
    const start = this.#header(identifier, field)
    const end = this.#contentEnd
    if (start === end) this.refuse(field, "is an INTEGER without content")
    const first = this.#octet(start)
    if (end - start > 1 && isSignOctet(first, this.#octet(start + 1)))
      this.refuse(field, "is an INTEGER that is not minimal")
    this.#at = end
    return this.#view(start, end)
  }

  /** Returns the magnitude of a non-negative INTEGER without the sign octet. */
  unsigned(field: string, identifier: number = tag.integer): Uint8Array {
    const at = this.#at
    const content = this.integer(field, identifier)
    if ((content[0] as number) >= 0x80) this.refuse(field, "is negative", at)
    return content.length > 1 && content[0] === 0 ? content.subarray(1) : content
  }

  /** Reads an INTEGER or ENUMERATED from 0 to `maximum`, at most 2³¹ − 1. */
  small(field: string, maximum: number, identifier: number = tag.integer): number {
    const at = this.#at
    const content = this.integer(field, identifier)
    let value = content.length > 4 || (content[0] as number) >= 0x80 ? Number.NaN : 0
    for (const octet of content) value = value * 256 + octet
    if (!(value <= maximum)) this.refuse(field, `is not between 0 and ${maximum}`, at)
    return value
  }

  oid(field: string, identifier: number = tag.objectIdentifier): string {
    const start = this.#header(identifier, field)
    const text = decodeOidContent(this.#bytes, start, this.#contentEnd)
    if (text === undefined) this.refuse(field, "is not a valid object identifier")
    this.#at = this.#contentEnd
    return text
  }

  /** Reads a BIT STRING of whole octets. */
  bitString(field: string): Uint8Array {
    const start = this.#header(tag.bitString, field)
    if (start === this.#contentEnd || this.#octet(start) !== 0) this.refuse(field, "does not contain whole octets")
    this.#at = this.#contentEnd
    return this.#view(start + 1, this.#contentEnd)
  }

  /** Returns an implicitly tagged BIT STRING of any number of bits, with its header. */
  taggedBitString(field: string, identifier: number): Uint8Array {
    const at = this.#at
    const start = this.#header(identifier, field)
    const end = this.#contentEnd
    const unused = start < end ? this.#octet(start) : 8
    if (unused > 7 || (end === start + 1 && unused > 0)) this.refuse(field, "is not a valid BIT STRING")
    if (end > start + 1 && (this.#octet(end - 1) & ((1 << unused) - 1)) !== 0)
      this.refuse(field, "has padding bits that are not zero")
    this.#at = end
    return this.#view(at, end)
  }

  /** Returns the numbers of the set bits, ascending, all below `count`. Throws for trailing zero bits (X.690, clause 11.2.2). */
  namedBits(field: string, count: number, identifier: number = tag.bitString): readonly number[] {
    const start = this.#header(identifier, field)
    const end = this.#contentEnd
    const unused = start < end ? this.#octet(start) : 8
    const bitCount = (end - start - 1) * 8 - unused
    if (unused > 7 || bitCount < 0) this.refuse(field, "is not a valid BIT STRING")
    if (bitCount > count) this.refuse(field, `has more than ${count} bits`)
    const bits: number[] = []
    for (let bit = 0; bit < bitCount; bit += 1)
      if ((this.#octet(start + 1 + (bit >> 3)) & (0x80 >> (bit & 7))) !== 0) bits.push(bit)
    const padding = bitCount > 0 ? this.#octet(end - 1) & ((1 << unused) - 1) : 0
    if (padding !== 0 || (bits.at(-1) ?? -1) !== bitCount - 1) this.refuse(field, "has trailing zero bits or padding")
    this.#at = end
    return bits
  }

  /** Reads any string type that is allowed in names and policies. Throws for U+0000, which no such text needs. */
  string(field: string): string {
    const identifier = this.next
    switch (identifier) {
      case tag.utf8String:
        return this.utf8(field)
      case tag.printableString:
        return this.#text(field, identifier, "PrintableString", isPrintable)
      case tag.ia5String:
        return this.ia5(field)
      case tag.visibleString:
        return this.#text(field, identifier, "VisibleString", isVisibleOctet)
      case tag.teletexString:
        // T.61 by name, Latin-1 in the certificates that use it.
        return this.#text(field, identifier, "TeletexString", isNoNul)
      case tag.bmpString:
        return this.#wideText(field, identifier, 2)
      case tag.universalString:
        return this.#wideText(field, identifier, 4)
      default:
        return this.refuse(field, "is not a character string")
    }
  }

  /** Reads a UTF8String, or an implicitly tagged one. */
  utf8(field: string, identifier: number = tag.utf8String): string {
    const start = this.#header(identifier, field)
    const end = this.#contentEnd
    for (let at = start; at < end; at += 1) {
      const octet = this.#octet(at)
      if (octet === 0) this.refuse(field, "contains U+0000", at)
      if (octet < 0x80) continue
      const text = decodeUtf8(this.#view(start, end))
      if (text === undefined || text.includes("\0")) this.refuse(field, "is not valid UTF-8", at)
      this.#at = end
      return text
    }
    this.#at = end
    return this.#latin1(start, end)
  }

  /** Reads an IA5String, or an implicitly tagged one. */
  ia5(field: string, identifier: number = tag.ia5String): string {
    return this.#text(field, identifier, "IA5String", isIa5Octet)
  }

  /**
   * Reads the `Time` of certificates and CRLs (RFC 5280, section 4.1.2.5): the years 1950 to 2049 as UTCTime, others as GeneralizedTime.
   */
  time(field: string): Instant {
    if (this.next === tag.utcTime) return this.#time(field, tag.utcTime)
    const at = this.#at
    const instant = this.generalizedTime(field)
    if (instant >= firstUtcTime && instant < endOfUtcTime)
      this.refuse(field, "must be a UTCTime until 2049 and a GeneralizedTime from 2050", at)
    return instant
  }

  /** Reads a GeneralizedTime in the only form of RFC 5280: `YYYYMMDDHHMMSSZ`. */
  generalizedTime(field: string, identifier: number = tag.generalizedTime): Instant {
    return this.#time(field, identifier)
  }

  #time(field: string, identifier: number): Instant {
    const start = this.#header(identifier, field)
    const isUtcTime = identifier === tag.utcTime
    const digits = isUtcTime ? 12 : 14
    const end = start + digits
    const name = isUtcTime ? "UTCTime YYMMDDHHMMSSZ" : "GeneralizedTime YYYYMMDDHHMMSSZ"
    if (this.#contentEnd !== end + 1 || this.#octet(end) !== 0x5a) this.refuse(field, `is not a valid ${name}`)
    for (let at = start; at < end; at += 1) if (!isDigit(this.#octet(at))) this.refuse(field, `is not a valid ${name}`)
    const pair = (at: number) => this.#octet(at) * 10 + this.#octet(at + 1) - 0x30 * 11
    const short = pair(start)
    const instant = instantOf({
      year: isUtcTime ? (short < 50 ? 2000 : 1900) + short : short * 100 + pair(start + 2),
      month: pair(end - 10),
      day: pair(end - 8),
      hour: pair(end - 6),
      minute: pair(end - 4),
      second: pair(end - 2),
    })
    if (instant === undefined) this.refuse(field, "is not a valid date and time")
    this.#at = this.#contentEnd
    return instant
  }

  #text(field: string, identifier: number, kind: string, allows: (octet: number) => boolean): string {
    const start = this.#header(identifier, field)
    const end = this.#contentEnd
    for (let at = start; at < end; at += 1)
      if (!allows(this.#octet(at))) this.refuse(field, `contains an octet that is not allowed in a ${kind}`, at)
    this.#at = end
    return this.#latin1(start, end)
  }

  /** Reads UTF-16 or UTF-32, big-endian. UTF-16 must not have surrogates (X.680, clause 41). */
  #wideText(field: string, identifier: number, width: 2 | 4): string {
    const start = this.#header(identifier, field)
    const end = this.#contentEnd
    if ((end - start) % width !== 0) this.refuse(field, `does not consist of characters of ${width} octets`)
    const characters: string[] = []
    for (let at = start; at < end; at += width) {
      let point = 0
      for (let octet = 0; octet < width; octet += 1) point = point * 256 + this.#octet(at + octet)
      if (point === 0 || point > 0x10_ffff || (point >= 0xd800 && point <= 0xdfff))
        this.refuse(field, "contains an invalid character", at)
      characters.push(String.fromCodePoint(point))
    }
    this.#at = end
    return characters.join("")
  }

  /** Reads identifier and length, sets `#contentEnd`, and returns the start of the content. */
  #header(identifier: number, field: string): number {
    if (this.#at >= this.#end) this.refuse(field, "is missing")
    if (this.#octet(this.#at) !== identifier)
      this.refuse(field, `has the tag 0x${hex(this.#octet(this.#at))} instead of 0x${hex(identifier)}`)
    return this.#length(this.#at, this.#end, field)
  }

  #length(at: number, limit: number, field: string): number {
    const identifier = this.#octet(at)
    if ((identifier & 0x1f) === 0x1f) this.refuse(field, "has a tag number above 30", at)
    if (at + 1 >= limit) this.refuse(field, "is truncated", at)
    const first = this.#octet(at + 1)
    let start = at + 2
    let length = first
    if (first >= 0x80) {
      const count = first - 0x80
      if (count === 0) this.refuse(field, "has an indefinite length", at)
      if (count > 4) this.refuse(field, "has a length field of more than 4 octets", at)
      if (start + count > limit) this.refuse(field, "is truncated", at)
      length = 0
      for (const end = start + count; start < end; start += 1) length = length * 256 + this.#octet(start)
      if (length < 0x80 || length < 256 ** (count - 1)) this.refuse(field, "has a length that is not minimal", at)
    }
    if (length > limit - start) this.refuse(field, "is truncated", at)
    this.#contentEnd = start + length
    return start
  }

  /** Checks the values between two positions that no other code reads. */
  #refuseMalformed(start: number, end: number, field: string): void {
    const ends = [end]
    let at = start
    while (ends.length > 0) {
      const limit = ends.at(-1) ?? 0
      if (at === limit) {
        ends.pop()
        continue
      }
      const content = this.#length(at, limit, field)
      const identifier = this.#octet(at)
      if ((identifier & 0xc0) === 0) this.#rejectMalformedUniversal(at, content, field)
      if (!isConstructed(identifier)) at = this.#contentEnd
      else if (this.#depth + ends.length > maxDepth)
        this.refuse(field, `is nested more than ${maxDepth} levels deep`, at)
      else {
        ends.push(this.#contentEnd)
        at = content
      }
    }
  }

  /** Checks values of the simple types, which have one encoding for each value. */
  #rejectMalformedUniversal(at: number, start: number, field: string): void {
    const identifier = this.#octet(at)
    const length = this.#contentEnd - start
    const first = length > 0 ? this.#octet(start) : -1
    switch (identifier) {
      case tag.boolean:
        if (length !== 1 || (first !== 0 && first !== 0xff)) this.refuse(field, "contains a malformed BOOLEAN", at)
        return
      case tag.integer:
      case tag.enumerated:
        if (length === 0 || (length > 1 && isSignOctet(first, this.#octet(start + 1))))
          this.refuse(field, "contains an INTEGER that is not minimal", at)
        return
      case tag.null:
        if (length !== 0) this.refuse(field, "contains a NULL with content", at)
        return
      case tag.bitString:
        if (first < 0 || first > 7 || (length === 1 && first > 0))
          this.refuse(field, "contains a malformed BIT STRING", at)
        return
      case tag.objectIdentifier:
        if (decodeOidContent(this.#bytes, start, this.#contentEnd) === undefined)
          this.refuse(field, "contains a malformed OBJECT IDENTIFIER", at)
        return
      case tag.utf8String:
        if (decodeUtf8(this.#view(start, this.#contentEnd)) === undefined)
          this.refuse(field, "contains malformed UTF-8", at)
        return
      case tag.bmpString:
      case tag.universalString:
        if (length % (identifier === tag.bmpString ? 2 : 4) !== 0)
          this.refuse(field, "contains a string that ends inside a character", at)
        return
      case tag.utcTime:
      case tag.generalizedTime: {
        const form = identifier === tag.utcTime ? utcTimeForm : generalizedTimeForm
        if (!form.test(this.#latin1(start, this.#contentEnd))) this.refuse(field, "contains a malformed time", at)
        return
      }
      default:
        if (!otherUniversal.has(identifier))
          this.refuse(
            field,
            `contains a value with the tag 0x${hex(identifier)}, which is not allowed in a certificate`,
            at,
          )
    }
  }

  #rejectDisorder(field: string): void {
    let previous: Uint8Array | undefined
    for (let at = this.#at; at < this.#end; at = this.#contentEnd) {
      this.#length(at, this.#end, field)
      if (previous === undefined && this.#contentEnd === this.#end) return
      const element = this.#view(at, this.#contentEnd)
      if (previous !== undefined && Buffer.compare(previous, element) > 0)
        this.refuse(field, "is a SET OF in the wrong order", at)
      previous = element
    }
  }

  #octet(at: number): number {
    return this.#bytes[at] as number
  }

  #view(start: number, end: number): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start)
  }

  #latin1(start: number, end: number): string {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start).toString("latin1")
  }
}

/** Throws unless the bytes are exactly one well-formed value. */
export function rejectMalformed(bytes: Uint8Array, document: string): void {
  const reader = new DerReader(bytes, document)
  reader.value("value")
  reader.finish("value")
}

const firstUtcTime = Date.UTC(1950, 0)
const endOfUtcTime = Date.UTC(2050, 0)

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decodeUtf8(octets: Uint8Array): string | undefined {
  try {
    return utf8.decode(octets)
  } catch {
    return undefined
  }
}

const hex = (octet: number): string => octet.toString(16).padStart(2, "0")

/** Returns true if the first octet of an INTEGER is redundant (X.690, clause 8.3.2). */
const isSignOctet = (first: number, second: number): boolean =>
  (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)

/** The times of DER (X.690, clauses 11.7 and 11.8). Fractions are allowed unless a profile forbids them. */
const utcTimeForm = /^\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\dZ$/
const generalizedTimeForm = /^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d(\.\d*[1-9])?Z$/

/** Types that unread values may also contain; their content is not checked. Strings are primitive (X.690, clause 10.2). */
const otherUniversal: ReadonlySet<number> = new Set([
  tag.sequence,
  tag.set,
  tag.octetString,
  tag.numericString,
  tag.printableString,
  tag.teletexString,
  tag.ia5String,
  tag.visibleString,
  tag.generalString,
])

const isDigit = (octet: number): boolean => octet >= 0x30 && octet <= 0x39
const isIa5Octet = (octet: number): boolean => octet > 0 && octet < 0x80
const isVisibleOctet = (octet: number): boolean => octet >= 0x20 && octet < 0x7f
const isNoNul = (octet: number): boolean => octet !== 0

// Parses JSON (RFC 8259) that arrives in chunks, and buffers only the values that a visitor captures. All bytes are validated, including
// those of skipped values.

export type JsonKind = "object" | "array" | "scalar"

/** Position of a value: member names and element indexes. The reader owns and reuses the array. */
export type JsonPath = readonly (string | number)[]

export interface JsonVisitor {
  /** Called for the document (an empty path) and for each direct child of an entered value. A scalar that is entered is captured. */
  visit(path: JsonPath, kind: JsonKind): "enter" | "capture" | "skip"
  /**
   * Called with a captured value, or undefined if it is longer than `captureMaximumBytes`. `start` and `end` are byte offsets in the
   * document.
   */
  captured(path: JsonPath, value: unknown, place: { readonly start: number; readonly end: number }): void
  /** Called at the end of an entered value. */
  left?(path: JsonPath): void
}

/** The input is not JSON. The message contains the position and no data. */
export class JsonFault extends Error {
  constructor(reason: string, at: number) {
    super(`${reason} at byte ${at}`)
    this.name = "JsonFault"
  }
}

export const maxJsonDepth = 1_000
const defaultCaptureMaximumBytes = 16 * 1024 * 1024

const [expectsValue, expectsValueOrEnd, expectsKeyOrEnd, expectsKey, expectsColon, afterValue] = [0, 1, 2, 3, 4, 5]
const [inString, inEscape, inHex, inLiteral, isDone] = [6, 7, 8, 9, 10]
/** Within a multi-byte character. */
const inCharacter = 19
/** Within a number, by the last byte. */
const [afterMinus, afterZero, inInteger, afterPoint, inFraction, afterExponent, afterSign, inExponent] = [
  11, 12, 13, 14, 15, 16, 17, 18,
]

const quote = 0x22
const backslash = 0x5c
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

const literals: Readonly<Record<number, Uint8Array>> = Object.fromEntries(
  ["true", "false", "null"].map((word) => [word.charCodeAt(0), new TextEncoder().encode(word)]),
)
/** 1 for bytes that may occur in a string and are one unescaped ASCII character. */
const isItself = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte <= 0x7f && byte !== quote && byte !== backslash ? 1 : 0,
)
const notUtf8 = "bytes that are not UTF-8"
const escapable = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)))
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export class JsonReader {
  readonly #visitor: JsonVisitor
  readonly #captureMaximumBytes: number
  #state = expectsValue
  /** Kind of each enclosing container: 1 for an object. */
  readonly #isObject = new Uint8Array(maxJsonDepth)
  #depth = 0
  /** Number of enclosing containers that the visitor has entered, from the outermost. */
  #entered = 0
  readonly #path: (string | number)[] = []
  /** Bytes in earlier chunks. */
  #before = 0
  #stringIsKey = false
  #literal: Uint8Array = utf8Nothing
  /** Bytes read of the literal, or digits read of a `\u` escape. */
  #progress = 0
  /** Bytes that are missing of the current character, and the range of the next one. */
  #missing = 0
  #least = 0
  #most = 0

  /** Depth at the captured value, or -1. */
  #captureDepth = -1
  /** True while a captured value, or a key of an entered object, is buffered. */
  #isBuffering = false
  #bufferStart = 0
  #buffered: Uint8Array[] = []
  #bufferedBytes = 0
  #captureStart = 0
  #overflown = false
  /** True if the buffered bytes contain no escape and no multi-byte character. */
  #isPlain = true
  /** Recent short strings by hash; a new string replaces an older one of the same hash. */
  readonly #knownTexts: string[] = []

  constructor(visitor: JsonVisitor, { captureMaximumBytes = defaultCaptureMaximumBytes } = {}) {
    this.#visitor = visitor
    this.#captureMaximumBytes = captureMaximumBytes
  }

  /** Parses a chunk. Throws `JsonFault`, and errors of the visitor. Do not call it again after an error. */
  write(bytes: Uint8Array): void {
    this.#bufferStart = 0
    const end = this.#scan(bytes)
    if (this.#isBuffering) this.#buffer(bytes, end)
    this.#before += bytes.length
  }

  end(): void {
    if (numberMayEnd(this.#state)) this.#valueEnds(utf8Nothing, 0)
    if (this.#state !== isDone) throw new JsonFault("unexpected end", this.#before)
  }

  #scan(bytes: Uint8Array): number {
    const { length } = bytes
    let at = 0
    while (at < length) {
      const byte = bytes[at] as number
      switch (this.#state) {
        case inString: {
          while (at < length && isItself[bytes[at] as number] === 1) at += 1
          if (at === length) return at
          const stopper = bytes[at] as number
          at += 1
          if (stopper === quote) this.#stringEnds(bytes, at)
          else if (stopper === backslash) {
            this.#state = inEscape
            this.#isPlain = false
          } else if (stopper > 0x7f) this.#characterBegins(stopper, at - 1)
          else throw this.#fault("control character in a string", at - 1)
          break
        }
        case inCharacter:
          if (byte < this.#least || byte > this.#most) throw this.#fault(notUtf8, at)
          this.#missing -= 1
          ;[this.#least, this.#most] = [0x80, 0xbf]
          if (this.#missing === 0) this.#state = inString
          at += 1
          break
        case inEscape:
          if (byte === 0x75) {
            this.#state = inHex
            this.#progress = 0
          } else if (escapable.has(byte)) this.#state = inString
          else throw this.#fault("unknown escape sequence", at)
          at += 1
          break
        case inHex:
          if (!isHex(byte)) throw this.#fault("unknown escape sequence", at)
          this.#progress += 1
          if (this.#progress === 4) this.#state = inString
          at += 1
          break
        case inLiteral:
          if (byte !== this.#literal[this.#progress]) throw this.#fault("unknown literal", at)
          at += 1
          this.#progress += 1
          if (this.#progress === this.#literal.length) this.#valueEnds(bytes, at)
          break
        case expectsValue:
        case expectsValueOrEnd:
          if (isSpace(byte)) at = behindSpace(bytes, at)
          else if (byte === closeBracket && this.#state === expectsValueOrEnd) at = this.#close(bytes, at)
          else at = this.#valueBegins(byte, at)
          break
        case expectsKeyOrEnd:
        case expectsKey:
          if (isSpace(byte)) at = behindSpace(bytes, at)
          else if (byte === quote) at = this.#keyBegins(at)
          else if (byte === closeBrace && this.#state === expectsKeyOrEnd) at = this.#close(bytes, at)
          else throw this.#fault("missing member name", at)
          break
        case expectsColon:
          if (byte === 0x3a) this.#state = expectsValue
          else if (!isSpace(byte)) throw this.#fault("missing colon after a member name", at)
          at += 1
          break
        case afterValue: {
          if (isSpace(byte)) {
            at = behindSpace(bytes, at)
            break
          }
          const inObject = this.#isObject[this.#depth - 1] === 1
          if (byte === 0x2c) {
            this.#state = inObject ? expectsKey : expectsValue
            at += 1
          } else if (byte === (inObject ? closeBrace : closeBracket)) at = this.#close(bytes, at)
          else throw this.#fault("missing comma or closing bracket", at)
          break
        }
        case isDone:
          if (!isSpace(byte)) throw this.#fault("more than one document", at)
          at += 1
          break
        default:
          at = this.#inNumber(bytes, byte, at)
      }
    }
    return at
  }

  /** The well-formed byte sequences of the Unicode Standard (table 3-7), which RFC 3629 has in section 4. */
  #characterBegins(lead: number, at: number): void {
    if (lead < 0xc2 || lead > 0xf4) throw this.#fault(notUtf8, at)
    this.#isPlain = false
    this.#missing = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3
    this.#least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
    this.#most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
    this.#state = inCharacter
  }

  #valueBegins(byte: number, at: number): number {
    const kind = byte === openBrace ? "object" : byte === openBracket ? "array" : "scalar"
    let enters = false
    if (this.#depth === this.#entered && this.#captureDepth < 0) {
      if (this.#entered > 0 && this.#isObject[this.#depth - 1] === 0) this.#nextElement()
      const answer = this.#visitor.visit(this.#path, kind)
      enters = answer === "enter" && kind !== "scalar"
      if (!enters && answer !== "skip") this.#beginCapture(at)
    }
    if (kind !== "scalar") {
      if (this.#depth === maxJsonDepth) throw this.#fault("values nested too deeply", at)
      this.#isObject[this.#depth] = kind === "object" ? 1 : 0
      this.#depth += 1
      if (enters) {
        this.#entered += 1
        this.#path.push(-1)
      }
      this.#state = kind === "object" ? expectsKeyOrEnd : expectsValueOrEnd
      return at + 1
    }
    if (byte === quote) {
      this.#stringIsKey = false
      this.#state = inString
    } else if (byte === 0x2d) this.#state = afterMinus
    else if (byte === 0x30) this.#state = afterZero
    else if (isDigit(byte)) this.#state = inInteger
    else {
      const literal = literals[byte]
      if (literal === undefined) throw this.#fault("missing value", at)
      this.#literal = literal
      this.#progress = 1
      this.#state = inLiteral
    }
    return at + 1
  }

  #nextElement(): void {
    const last = this.#path.length - 1
    this.#path[last] = (this.#path[last] as number) + 1
  }

  #keyBegins(at: number): number {
    this.#stringIsKey = true
    this.#state = inString
    if (this.#depth === this.#entered && this.#captureDepth < 0) this.#beginBuffer(at)
    return at + 1
  }

  #stringEnds(bytes: Uint8Array, at: number): void {
    if (!this.#stringIsKey) return this.#valueEnds(bytes, at)
    if (this.#isBuffering && this.#captureDepth < 0) {
      const name = this.#released(bytes, at)
      if (name === undefined) throw this.#fault("member name too long", at)
      this.#path[this.#path.length - 1] = name as string
    }
    this.#state = expectsColon
  }

  /** Closes a container whose closing bracket is at `at`. */
  #close(bytes: Uint8Array, at: number): number {
    this.#depth -= 1
    if (this.#depth < this.#entered) {
      this.#entered -= 1
      this.#path.pop()
      this.#visitor.left?.(this.#path)
    }
    this.#valueEnds(bytes, at + 1)
    return at + 1
  }

  #valueEnds(bytes: Uint8Array, at: number): void {
    if (this.#captureDepth === this.#depth && this.#isBuffering) {
      this.#captureDepth = -1
      const place = { start: this.#captureStart, end: this.#before + at }
      this.#visitor.captured(this.#path, this.#released(bytes, at), place)
    }
    this.#state = this.#depth === 0 ? isDone : afterValue
  }

  #inNumber(bytes: Uint8Array, byte: number, at: number): number {
    const next = numberStateAfter(this.#state, byte)
    if (next !== undefined) {
      this.#state = next
      return at + 1
    }
    if (!numberMayEnd(this.#state)) throw this.#fault("incomplete number", at)
    // The byte after a number is not part of it.
    this.#valueEnds(bytes, at)
    return at
  }

  #beginCapture(at: number): void {
    this.#captureDepth = this.#depth
    this.#captureStart = this.#before + at
    this.#beginBuffer(at)
  }

  #beginBuffer(at: number): void {
    this.#isBuffering = true
    this.#bufferStart = at
    this.#buffered = []
    this.#bufferedBytes = 0
    this.#overflown = false
    this.#isPlain = true
  }

  #buffer(bytes: Uint8Array, end: number): void {
    const piece = bytes.subarray(this.#bufferStart, end)
    this.#bufferedBytes += piece.length
    if (this.#bufferedBytes > this.#captureMaximumBytes) {
      this.#overflown = true
      this.#buffered = []
      // Copies, because the sender may reuse the memory for the next chunk. `slice` does not copy for every kind of array.
    } else if (piece.length > 0) this.#buffered.push(new Uint8Array(piece))
  }

  /**
   * Returns the value of the buffered bytes up to `end`. Most values are short and within one chunk, so that nothing is copied or parsed.
   */
  #released(bytes: Uint8Array, end: number): unknown {
    this.#isBuffering = false
    const start = this.#bufferStart
    if (this.#bufferedBytes === 0 && end - start <= this.#captureMaximumBytes) {
      if (this.#isPlain && bytes[start] === quote) return this.#text(bytes, start + 1, end - 1)
      return JSON.parse(utf8.decode(bytes.subarray(start, end))) as unknown
    }
    this.#buffer(bytes, end)
    const buffers = this.#buffered
    this.#buffered = []
    return this.#overflown ? undefined : (JSON.parse(utf8.decode(joined(buffers, this.#bufferedBytes))) as unknown)
  }

  /** Returns a plain ASCII string. Short strings are mostly repetitions and are reused. */
  #text(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start
    if (length > maxKnownText) return asciiText(bytes, start, length)
    let hash = length
    for (let at = start; at < end; at += 1) hash = (hash * 31 + (bytes[at] as number)) | 0
    const slot = hash & (knownTextSlots - 1)
    const known = this.#knownTexts[slot]
    if (known !== undefined && isTextAt(known, bytes, start, length)) return known
    return (this.#knownTexts[slot] = asciiText(bytes, start, length))
  }

  #fault(reason: string, at: number): JsonFault {
    return new JsonFault(reason, this.#before + at)
  }
}

const utf8Nothing = new Uint8Array()

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** A power of 2. */
const knownTextSlots = 256
/** In bytes. Names of types, modules and providers are rarely longer. */
const maxKnownText = 96

function isTextAt(text: string, bytes: Uint8Array, start: number, length: number): boolean {
  if (text.length !== length) return false
  for (let at = 0; at < length; at += 1) if (text.charCodeAt(at) !== bytes[start + at]) return false
  return true
}

const asciiText = (bytes: Uint8Array, start: number, length: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString("latin1")

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
function behindSpace(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && isSpace(bytes[at] as number)) at += 1
  return at
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isHex = (byte: number): boolean =>
  isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
const isExponentLetter = (byte: number): boolean => byte === 0x65 || byte === 0x45

const numberMayEnd = (state: number): boolean =>
  state === afterZero || state === inInteger || state === inFraction || state === inExponent

/** Returns the next state, or undefined if the byte cannot continue the number. */
function numberStateAfter(state: number, byte: number): number | undefined {
  switch (state) {
    case afterMinus:
      if (byte === 0x30) return afterZero
      return isDigit(byte) ? inInteger : undefined
    case inInteger:
    case afterZero:
      if (isDigit(byte)) return state === inInteger ? inInteger : undefined
      if (byte === 0x2e) return afterPoint
      return isExponentLetter(byte) ? afterExponent : undefined
    case afterPoint:
      return isDigit(byte) ? inFraction : undefined
    case inFraction:
      if (isDigit(byte)) return inFraction
      return isExponentLetter(byte) ? afterExponent : undefined
    case afterExponent:
      if (byte === 0x2b || byte === 0x2d) return afterSign
      return isDigit(byte) ? inExponent : undefined
    default:
      return isDigit(byte) ? inExponent : undefined
  }
}

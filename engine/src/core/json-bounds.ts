// Bounds on JSON (RFC 8259) that are checked before it is parsed. A parser creates a value for every member, so a body of a few megabytes
// can cost seconds of processor time and gigabytes of memory (the class of CVE-2025-6203).

export interface JsonBounds {
  /** Nesting of arrays and objects. */
  readonly depth: number
  /** Members of one object. */
  readonly members: number
  /** Elements of one array. */
  readonly elements: number
  /** Bytes of one string or member name, as encoded in the document. */
  readonly stringBytes: number
  /** Values in the whole document. Arrays and objects count as values themselves. */
  readonly values: number
}

/**
 * Defaults of Vault's listener (`max_json_object_entry_count` and its siblings), except for strings. Vault's mebibyte counts characters,
 * and certificate bundles may have as many. Here their escaped line breaks count twice.
 */
export const defaultJsonBounds: JsonBounds = {
  depth: 300,
  members: 10_000,
  elements: 10_000,
  stringBytes: 2 * 1024 * 1024,
  values: 500_000,
}

/** A bound is exceeded. The message completes "the body …": it names the bound and the position, and contains no data of the document. */
export class JsonBoundsError extends Error {
  constructor(problem: string, at: number) {
    super(`${problem} (at byte ${at})`)
    this.name = "JsonBoundsError"
  }
}

/** Parses JSON after checking its bounds. Throws `JsonBoundsError`, a `TypeError` for bytes that are not UTF-8, or a `SyntaxError`. */
export function parseBoundedJson(bytes: Uint8Array, bounds: JsonBounds = defaultJsonBounds): unknown {
  assertJsonBounds(bytes, bounds)
  return JSON.parse(utf8.decode(bytes))
}

/** Parses JSON inside a string, such as a list in the value of a member. Returns undefined if the text is not JSON or exceeds a bound. */
export function parseNestedJson(text: string): unknown {
  try {
    return parseBoundedJson(Buffer.from(text), nestedJsonBounds)
  } catch {
    return undefined
  }
}

/** Strings contain only lists of names and objects of strings. */
const nestedJsonBounds: JsonBounds = { ...defaultJsonBounds, depth: 20 }

const utf8 = new TextDecoder("utf-8", { fatal: true })

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const space = 0x20
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Throws `JsonBoundsError` at the first bound that is exceeded, in one pass. The pass finds the same strings, arrays and objects as a
 * parser. In an invalid document this is true up to the first error, where a parser stops.
 *
 * It costs less than the parse that follows: `npm run bench -- json` compares the two.
 */
export function assertJsonBounds(bytes: Uint8Array, bounds: JsonBounds): void {
  const { length } = bytes
  const { depth: maxDepth, members, elements, stringBytes, values: maxValues } = bounds
  // A level, a member and a value take at least one byte each.
  if (length <= Math.min(maxDepth, members, elements, stringBytes, maxValues)) return
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  /** Two numbers for each enclosing array or object: the commas that it may still have, and 1 if it is an object. */
  const outer: number[] = []
  let commasLeft = length
  let isObject = 0
  let values = 1
  /** True if only whitespace follows the last opening bracket. */
  let isEmpty = false
  let at = 0
  while (at < length) {
    const byte = bytes[at] as number
    if (byte === quote) {
      const end = endOfString(bytes, view, at + 1)
      if (end - at - 1 > stringBytes) throw new JsonBoundsError(`has a string longer than ${stringBytes} bytes`, at)
      isEmpty = false
      at = end + 1
    } else if (byte === comma) {
      commasLeft -= 1
      values += 1
      if (commasLeft < 0) throw tooMany(isObject === 1, bounds, at)
      if (values > maxValues) throw new JsonBoundsError(`has more than ${maxValues} values`, at)
      at += 1
    } else if (byte <= space) {
      at += 1
      while (at + 8 <= length && areBlank(view.getInt32(at), view.getInt32(at + 4))) at += 8
      while (at < length && (bytes[at] as number) <= space) at += 1
    } else if (byte < openBracket) {
      // A number or a colon.
      isEmpty = false
      do at += 1
      while (at < length && isInNumber(bytes[at] as number))
    } else if (byte === openBrace || byte === openBracket) {
      if (outer.length === 2 * maxDepth) throw new JsonBoundsError(`nests values deeper than ${maxDepth} levels`, at)
      outer.push(commasLeft, isObject)
      isObject = byte === openBrace ? 1 : 0
      commasLeft = (isObject === 1 ? members : elements) - 1
      // Counts the first value inside; subtracted again if the container is empty.
      values += 1
      isEmpty = true
      at += 1
    } else if (byte === closeBrace || byte === closeBracket) {
      // No bracket is open. A parser stops here.
      if (outer.length === 0) return
      isObject = outer.pop() as number
      commasLeft = outer.pop() as number
      if (isEmpty) values -= 1
      if (values > maxValues) throw new JsonBoundsError(`has more than ${maxValues} values`, at)
      isEmpty = false
      at += 1
    } else {
      isEmpty = false
      at += literalBytes(byte)
    }
  }
}

/** Minus, point, slash and digits: all of them are between the comma and the brackets in ASCII. */
const isInNumber = (byte: number): boolean => byte > comma && byte < 0x3a

/**
 * Returns the length of `true`, `false` or `null` by first letter, or 1 for any other byte. None of their letters can begin or continue a
 * number.
 */
const literalBytes = (byte: number): number => (byte === 0x66 ? 5 : byte === 0x74 || byte === 0x6e ? 4 : 1)

const tooMany = (isObject: boolean, { members, elements }: JsonBounds, at: number): JsonBoundsError =>
  isObject
    ? new JsonBoundsError(`has an object with more than ${members} members`, at)
    : new JsonBoundsError(`has an array with more than ${elements} elements`, at)

/** After this many bytes of a string, a native search is faster than a loop over words of four bytes. */
const longStringBytes = 1024

/** Returns the position of the closing quote of the string whose first byte is at `from`, or the length of the bytes. */
function endOfString(bytes: Uint8Array, view: DataView, from: number): number {
  const { length } = bytes
  let at = from
  for (;;) {
    const near = Math.min(at + longStringBytes, length)
    const lastWord = near - 4
    while (at < near) {
      while (at <= lastWord && !hasQuoteOrBackslash(view.getInt32(at))) at += 4
      const byte = bytes[at]
      if (byte === quote) return at
      at += byte === backslash ? 2 : 1
    }
    if (at >= length) return length
    const found = bytes.indexOf(quote, at)
    if (found === -1) return length
    let escapes = 0
    while (found - escapes > at && bytes[found - escapes - 1] === backslash) escapes += 1
    if (escapes % 2 === 0) return found
    at = found + 1
  }
}

/** Returns true if one of the four bytes is a quote or a backslash. In a subtraction, only a zero byte borrows. */
function hasQuoteOrBackslash(word: number): boolean {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  return ((((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080) !== 0
}

/** Returns true if all eight bytes are below 0x21: none has its high bit set, before or after adding 0x5f. */
const areBlank = (one: number, other: number): boolean =>
  ((one | (one + 0x5f5f5f5f) | other | (other + 0x5f5f5f5f)) & 0x80808080) === 0

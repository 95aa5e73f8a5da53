// JSON objects as ACME clients send them: no member twice, at whatever depth, which readers would take for different things.
import { malformed } from "../../acme/problem.ts"
import { assertJsonBounds, type JsonBounds, JsonBoundsError } from "../../core/json-bounds.ts"

export type JsonObject = Readonly<Record<string, unknown>>

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** An order of as many names as there may be is far within them; what an account's key signs nests three levels. */
const bounds: JsonBounds = { depth: 16, members: 100, elements: 1_000, stringBytes: 256 * 1024, values: 10_000 }

/** `what` begins the sentence about what is wrong. Throws `malformed`. */
export function readObject(bytes: Uint8Array, what: string): JsonObject {
  let text
  let value: unknown
  try {
    assertJsonBounds(bytes, bounds)
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof JsonBoundsError) throw malformed(`${what} ${error.message}.`)
    throw malformed(text === undefined ? `${what} is no text in UTF-8.` : `${what} is no JSON object.`)
  }
  if (!isObject(value)) throw malformed(`${what} is no JSON object.`)
  if (membersRead(value) !== membersWritten(text)) throw malformed(`${what} has a member twice.`)
  return value
}

/** Of all objects in it: of members that came twice, one is left. */
function membersRead(object: JsonObject): number {
  let count = 0
  const waiting: unknown[] = [object]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue
    const members = Object.values(value)
    if (!Array.isArray(value)) count += members.length
    for (const member of members) if (typeof member === "object" && member !== null) waiting.push(member)
  }
  return count
}

/** Of JSON, as many as there are colons outside of texts. */
function membersWritten(text: string): number {
  let count = 0
  let quote = text.indexOf('"')
  // Both go forward only, so that a long text is gone through once.
  for (let colon = text.indexOf(":"); colon !== -1;) {
    if (quote === -1 || colon < quote) {
      count += 1
      colon = text.indexOf(":", colon + 1)
    } else {
      const end = endOfText(text, quote)
      quote = text.indexOf('"', end)
      if (colon < end) colon = text.indexOf(":", end)
    }
  }
  return count
}

/** Behind the quotation mark that ends the text which begins here. */
function endOfText(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === "\\") escapes += 1
    if (escapes % 2 === 0) return end + 1
  }
}

/** Base64url without padding, as RFC 7515, section 2, has it. Throws `malformed`. */
export function readBase64url(value: unknown, what: string): Uint8Array {
  if (typeof value !== "string" || !/^[\w-]*$/.test(value) || value.length % 4 === 1)
    throw malformed(`${what} is not in base64url without padding.`)
  return Buffer.from(value, "base64url")
}

/** Some clients write null for what they leave out; most servers read it as that. */
export const isLeftOut = (value: unknown): value is undefined | null => value === undefined || value === null

export function text(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  if (isLeftOut(value)) return undefined
  if (typeof value !== "string") throw malformed(`${JSON.stringify(name)} is no text.`)
  return value
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

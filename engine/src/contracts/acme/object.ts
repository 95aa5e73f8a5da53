// JSON objects of ACME requests. Duplicate members are rejected at all depths, because parsers disagree about which one counts.
import { malformed } from "../../acme/problem.ts"
import { assertJsonBounds, type JsonBounds, JsonBoundsError } from "../../core/json-bounds.ts"

export type JsonObject = Readonly<Record<string, unknown>>

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Bounds with room for an order of the maximum number of names. Payloads that account keys sign nest three levels. */
const bounds: JsonBounds = { depth: 16, members: 100, elements: 1_000, stringBytes: 256 * 1024, values: 10_000 }

/** Parses a JSON object. `what` begins the sentence of an error. Throws `malformed`. */
export function readObject(bytes: Uint8Array, what: string): JsonObject {
  let text
  let value: unknown
  try {
    assertJsonBounds(bytes, bounds)
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof JsonBoundsError) throw malformed(`${what} ${error.message}.`)
    throw malformed(text === undefined ? `${what} is not valid UTF-8.` : `${what} is not a JSON object.`)
  }
  if (!isObject(value)) throw malformed(`${what} is not a JSON object.`)
  if (membersRead(value) !== membersWritten(text)) throw malformed(`${what} contains a member twice.`)
  return value
}

/** Counts the members of all objects in it. Parsing leaves one of several members with the same name. */
function membersRead(object: JsonObject): number {
  let count = 0
  const pending: unknown[] = [object]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== "object" || value === null) continue
    const members = Object.values(value)
    if (!Array.isArray(value)) count += members.length
    for (const member of members) if (typeof member === "object" && member !== null) pending.push(member)
  }
  return count
}

/** Counts members in JSON text, which are as many as the colons outside of strings. */
function membersWritten(text: string): number {
  let count = 0
  let quote = text.indexOf('"')
  // Both positions only move forward, so that a long text is scanned once.
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

/** Returns the position after the quotation mark that closes the string that begins at `quote`. */
function endOfText(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text[end - 1 - escapes] === "\\") escapes += 1
    if (escapes % 2 === 0) return end + 1
  }
}

/** Decodes base64url without padding (RFC 7515, section 2). Throws `malformed`. */
export function readBase64url(value: unknown, what: string): Uint8Array {
  if (typeof value !== "string" || !/^[\w-]*$/.test(value) || value.length % 4 === 1)
    throw malformed(`${what} must be in base64url without padding.`)
  return Buffer.from(value, "base64url")
}

/** Returns whether a member is absent. Some clients send null instead, and most servers treat it as absent. */
export const isLeftOut = (value: unknown): value is undefined | null => value === undefined || value === null

export function text(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  if (isLeftOut(value)) return undefined
  if (typeof value !== "string") throw malformed(`${JSON.stringify(name)} must be a string.`)
  return value
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

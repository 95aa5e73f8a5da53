// JSON objects as ACME clients send them: one object, and no member of it twice, which readers would take for different things.
import { malformed } from "../../acme/problem.ts"
import { rawPairs } from "../pki/raw-members.ts"

export type JsonObject = Readonly<Record<string, unknown>>

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** `what` begins the sentence about what is wrong. Throws `malformed`. */
export function readObject(bytes: Uint8Array, what: string): JsonObject {
  let text
  try {
    text = utf8.decode(bytes)
  } catch {
    throw malformed(`${what} is no text in UTF-8.`)
  }
  const pairs = rawPairs(text)
  if (pairs === undefined) throw malformed(`${what} is no JSON object.`)
  const names = pairs.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw malformed(`${what} has the member ${JSON.stringify(twice.slice(0, 64))} twice.`)
  return JSON.parse(text) as JsonObject
}

/** Base64url without padding, as RFC 7515, section 2, has it. Throws `malformed`. */
export function readBase64url(value: unknown, what: string): Uint8Array {
  if (typeof value !== "string" || !/^[\w-]*$/.test(value) || value.length % 4 === 1)
    throw malformed(`${what} is not in base64url without padding.`)
  return Buffer.from(value, "base64url")
}

export function text(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  if (value === undefined) return undefined
  if (typeof value !== "string") throw malformed(`${JSON.stringify(name)} is no text.`)
  return value
}

export function flag(object: JsonObject, name: string): boolean {
  const value = object[name]
  if (value === undefined) return false
  if (typeof value !== "boolean") throw malformed(`${JSON.stringify(name)} is neither true nor false.`)
  return value
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

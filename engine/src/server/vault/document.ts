// Reads the members of a certificate API request, from the body or the query, as one record (docs/compatibility.md, "Requests to the
// certificate API").
import { badRequest, EngineError } from "../../core/errors.ts"
import { assertJsonBounds, type JsonBounds, JsonBoundsError } from "../../core/json-bounds.ts"
import type { Document } from "../../contracts/vault/format/parameters.ts"
import { boundedBytes } from "../http/body.ts"
import type { HttpRequest } from "../http/message.ts"
import type { Operation } from "./vault-route.ts"

export interface ReadDocument {
  readonly document: Document
  /** Text of a JSON body. */
  readonly json?: string
}

interface DocumentVisit {
  readonly request: HttpRequest
  readonly query: URLSearchParams
}

/**
 * Reads the members of a request. Throws `bad-request`, `too-large`, or `unsupported-media-type` for a patch that is no JSON merge patch.
 */
export async function documentOf(
  { request, query }: DocumentVisit,
  operation: Operation,
  { limitBytes, json }: { readonly limitBytes: number; readonly json: JsonBounds },
): Promise<ReadDocument> {
  if (operation !== "write" && operation !== "patch") return { document: ofPairs(query, ["list", "help"]) }
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  if (operation === "patch" && type !== mergePatch)
    throw new EngineError("unsupported-media-type", `Content-Type must be ${mergePatch}`)
  const bytes = await boundedBytes(request, limitBytes)
  if (bytes.length === 0) return { document: {} }
  const isForm = type === "application/x-www-form-urlencoded" && !beginsLikeJson(bytes)
  try {
    if (isForm) assertPairs(bytes, json)
    else assertJsonBounds(bytes, json)
  } catch (error) {
    if (error instanceof JsonBoundsError) throw badRequest(`the body ${error.message}`)
    throw error
  }
  let body: string
  try {
    body = utf8.decode(bytes)
  } catch {
    throw badRequest("the body is not valid UTF-8")
  }
  if (isForm) return { document: ofPairs(new URLSearchParams(body)) }
  // Vault clients send `null` for an empty body.
  if (operation === "write" && body.trim() === "null") return { document: {} }
  return { document: parsed(body), json: body }
}

const mergePatch = "application/merge-patch+json"
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Returns true if the body begins like JSON. curl declares form encoding for any body. */
function beginsLikeJson(bytes: Uint8Array): boolean {
  let at = 0
  while (bytes[at] === 0x20 || ((bytes[at] ?? 0) >= 0x09 && (bytes[at] ?? 0) <= 0x0d)) at += 1
  return bytes[at] === 0x7b || bytes[at] === 0x5b
}

/** Applies the bounds of a JSON object with as many members. */
function assertPairs(bytes: Uint8Array, { members, stringBytes }: JsonBounds): void {
  let count = 1
  for (let start = 0; ; count += 1) {
    if (count > members) throw new JsonBoundsError(`has more than ${members} members`, start)
    const end = bytes.indexOf(0x26, start)
    if ((end === -1 ? bytes.length : end) - start > stringBytes)
      throw new JsonBoundsError(`has a member longer than ${stringBytes} bytes`, start)
    if (end === -1) return
    start = end + 1
  }
}

function parsed(body: string): Document {
  let document: unknown
  try {
    document = JSON.parse(body)
  } catch {
    throw badRequest("the body is not valid JSON")
  }
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw badRequest("the body is not a JSON object")
  return document as Document
}

/** Converts pairs to a record. A repeated name becomes a list. */
function ofPairs(pairs: URLSearchParams, except: readonly string[] = []): Document {
  const members = new Map<string, string | string[]>()
  for (const [name, value] of pairs) {
    if (except.includes(name)) continue
    const before = members.get(name)
    if (before === undefined) members.set(name, value)
    else if (typeof before === "string") members.set(name, [before, value])
    else before.push(value)
  }
  return Object.fromEntries(members)
}

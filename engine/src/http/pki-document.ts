// What a request of the certificate API says: one record of members, wherever they stand (pki-facts 0.2).
import { badRequest, EngineError } from "../core/errors.ts"
import type { Document } from "../wire/pki/parameters.ts"
import { boundedBytes } from "./body.ts"
import type { Exchange } from "./exchange.ts"
import type { Operation } from "./pki-route.ts"

export interface ReadDocument {
  readonly document: Document
  /** Where the body is JSON, as it came. */
  readonly json?: string
}

interface DocumentVisit {
  readonly request: Request
  readonly query: URLSearchParams
  readonly exchange: Exchange
}

export async function documentOf(
  { request, query, exchange }: DocumentVisit,
  operation: Operation,
  limitBytes: number,
): Promise<ReadDocument> {
  if (operation !== "write" && operation !== "patch") return { document: ofPairs(query, ["list", "help"]) }
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  if (operation === "patch" && type !== mergePatch)
    throw new EngineError("unsupported-media-type", `Content-Type must be ${mergePatch}`)
  const bytes = await boundedBytes(request, exchange, limitBytes)
  if (bytes.length === 0) return { document: {} }
  let body: string
  try {
    body = utf8.decode(bytes)
  } catch {
    throw badRequest("the body is not text in UTF-8")
  }
  // curl says form for whatever it is given, so what begins like JSON is JSON.
  if (type === "application/x-www-form-urlencoded" && !/^\s*[{[]/.test(body))
    return { document: ofPairs(new URLSearchParams(body)) }
  // Existing clients write it where they have nothing to say.
  if (operation === "write" && body.trim() === "null") return { document: {} }
  return { document: parsed(body), json: body }
}

const mergePatch = "application/merge-patch+json"
const utf8 = new TextDecoder("utf-8", { fatal: true })

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

/** What is said more than once is a list. */
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

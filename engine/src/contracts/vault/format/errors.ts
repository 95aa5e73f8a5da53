// Encodes an EngineError as `{"errors": [...]}`, and decodes it. Each fault is one sentence with the parameter's name on the wire. Faults
// of the caller are 4xx, because clients retry a 5xx (docs/compatibility.md, "Requests to the certificate API"). The record type makes a
// forgotten code a compile error.
import {
  EngineError,
  type EngineErrorCode,
  type Fault,
  type FieldPath,
  notFoundDetail,
  unauthenticated,
} from "../../../core/errors.ts"
import { camelCased, underscored } from "./dialect.ts"

const statuses: Record<EngineErrorCode, number> = {
  "bad-request": 400,
  unauthenticated: 403,
  forbidden: 403,
  "not-found": 404,
  conflict: 409,
  gone: 410,
  "precondition-failed": 412,
  "too-large": 413,
  "unsupported-media-type": 415,
  invalid: 400,
  unprocessable: 400,
  "rate-limited": 429,
  internal: 500,
  unavailable: 503,
  pending: 503,
  busy: 503,
  "out-of-service": 503,
}

/** Wire names, by domain name, of members whose wire name does not follow from it. */
export type WireNames = Readonly<Record<string, string>>

export interface EncodedError {
  readonly status: number
  readonly document: { readonly errors: readonly string[] }
  readonly headers: Readonly<Record<string, string>>
}

// The body has sentences only; our own client reads further facts from headers.
const codeHeader = "x-error-code"
const fieldsHeader = "x-error-fields"
const maxFaults = 100

export function encodeError(error: EngineError, wireNames: WireNames = {}): EncodedError {
  const faults = error.faults.slice(0, maxFaults)
  const headers: Record<string, string> = { [codeHeader]: error.code }
  if (faults.length > 0) headers[fieldsHeader] = faults.map(({ field }) => wirePath(field, wireNames)).join(",")
  if (error.retryAfterMs !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterMs / 1000))
  return { status: statuses[error.code], document: { errors: sentencesOf(error, faults, wireNames) }, headers }
}

function sentencesOf(error: EngineError, faults: readonly Fault[], wireNames: WireNames): string[] {
  if (faults.length > 0) return faults.map((fault) => shortened(sentenceOf(fault, wireNames)))
  // Missing authentication and missing authorization have the same text, which Vault clients match.
  if (error.code === "unauthenticated") return ["permission denied"]
  // Vault answers a missing resource with an empty list of errors.
  if (error.code === "not-found" && error.message === notFoundDetail) return []
  return [shortened(error.message)]
}

/** Returns the detail, after the parameter's name unless it contains the name. */
function sentenceOf({ detail, field }: Fault, wireNames: WireNames): string {
  const [name = ""] = wirePath(field, wireNames).split("/")
  return name === "" || new RegExp(`\\b${name}\\b`).test(detail) ? detail : `${name}${separator}${detail}`
}

const separator = ": "

/** Converts `["allowedDomains", 3]` to `allowed_domains/3`. */
const wirePath = (field: FieldPath = [], wireNames: WireNames): string =>
  field
    .map((part) => (typeof part === "number" ? String(part) : (wireNames[part] ?? underscored(part))))
    .filter((part) => /^[a-z0-9_]{1,64}$/.test(part))
    .join("/")

const maxDetail = 1_000

/** Truncates a detail, which may repeat long input. */
const shortened = (detail: string): string =>
  detail.length <= maxDetail ? detail : `${detail.slice(0, maxDetail).toWellFormed()}…`

const codes = new Set<string>(Object.keys(statuses))
const isCode = (text: string | undefined): text is EngineErrorCode => text !== undefined && codes.has(text)

const codesByStatus = new Map<number, EngineErrorCode>([
  [400, "bad-request"],
  [403, "forbidden"],
  [404, "not-found"],
  [409, "conflict"],
  [410, "gone"],
  [412, "precondition-failed"],
  [413, "too-large"],
  [415, "unsupported-media-type"],
  [429, "rate-limited"],
  [500, "internal"],
  [503, "busy"],
])

export interface AnsweredError {
  readonly status: number
  readonly document: unknown
  readonly header: (name: string) => string | undefined
  readonly retryAfterMs?: number | undefined
}

/** Decodes an error for the remote engine. `names` are domain names by wire name. */
export function decodeError(answer: AnsweredError, names: Readonly<Record<string, string>> = {}): EngineError {
  const { status, retryAfterMs, header } = answer
  const sentCode = header(codeHeader)
  const code = isCode(sentCode) ? sentCode : (codesByStatus.get(status) ?? "unavailable")
  const sentences = sentencesIn(answer.document)
  const options = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (code === "unauthenticated") return unauthenticated()
  if (code === "not-found" && sentences.length === 0) return new EngineError(code, notFoundDetail, options)
  const paths = header(fieldsHeader)?.split(",") ?? []
  const faults = paths.length === sentences.length ? sentences.map((text, at) => faultOf(text, paths[at], names)) : []
  const detail = faults.length > 0 ? faults.map((fault) => fault.detail).join("; ") : sentences.join("; ")
  return new EngineError(code, detail || `The server answered ${status}.`, { ...options, faults })
}

function sentencesIn(document: unknown): string[] {
  const errors = (document as { errors?: unknown } | null)?.errors
  return Array.isArray(errors) ? errors.filter((error) => typeof error === "string") : []
}

function faultOf(sentence: string, path: string | undefined, names: Readonly<Record<string, string>>): Fault {
  if (path === undefined || path === "") return { detail: sentence }
  const parts = path.split("/")
  const prefix = `${parts[0]}${separator}`
  const field = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : (names[part] ?? camelCased(part))))
  return { detail: sentence.startsWith(prefix) ? sentence.slice(prefix.length) : sentence, field }
}

// Encodes an EngineError as a JSON:API error document, and decodes it. `status` is a string: Go clients cannot decode a number
// (docs/compatibility.md, "Error documents"). The record type makes a forgotten code a compile error.
import {
  EngineError,
  type EngineErrorCode,
  type ErrorFacts,
  type Fault,
  type FieldPath,
  unavailable,
} from "../../../core/errors.ts"
import { camelCased, dashed } from "./member-name.ts"

// Suggestions for misspelled members. Unknown members are ignored, as HCP Terraform clients expect, so a misspelled member is only noticed
// because the correct one is missing.

export interface NearMember {
  /** Name in the document. */
  readonly given: string
  readonly meant: string
}

/** Maximum number of members to compare; larger objects get no suggestion. */
const maxMembers = 100
const maxName = 64

/**
 * Returns the member next to a missing one whose name is nearly the same. `pointer` (RFC 6901) is that of the fault. Returns undefined if
 * the member exists or no name is similar.
 */
export function nearMember(document: unknown, pointer: string): NearMember | undefined {
  let place = document
  for (const segment of pointer.split("/").slice(1)) {
    const meant = segment.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof place !== "object" || place === null) return undefined
    if (!Object.hasOwn(place, meant)) return Array.isArray(place) ? undefined : nearest(Object.keys(place), meant)
    place = (place as Readonly<Record<string, unknown>>)[meant]
  }
  return undefined
}

function nearest(names: readonly string[], meant: string): NearMember | undefined {
  if (names.length > maxMembers || meant.length > maxName) return undefined
  const allowed = Math.max(1, Math.floor(meant.length / 4))
  let found: { readonly given: string; readonly distance: number } | undefined
  for (const given of names) {
    if (Math.abs(given.length - meant.length) > allowed + 2) continue
    const distance = distanceBetween(plain(given), plain(meant))
    if (distance <= allowed && distance < (found?.distance ?? Infinity)) found = { given, distance }
  }
  return found && { given: found.given, meant }
}

/** Normalizes a name: `workingDirectory`, `working_directory` and `working-directory` are equal. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, "")

/** Returns the number of insertions, deletions, replacements and transpositions (optimal string alignment). */
export function distanceBetween(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1]
      const replaced = (last[column - 1] ?? 0) + (same ? 0 : 1)
      const least = Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(isSwap ? Math.min(least, (beforeLast[column - 2] ?? 0) + 1) : least)
    }
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}

export interface ErrorObject {
  readonly status: string
  readonly title: string
  readonly detail: string
  readonly source?: { readonly pointer: string } | { readonly parameter: string } | { readonly header: string }
  readonly meta?: ErrorFacts
}

export interface ErrorDocument {
  readonly errors: readonly ErrorObject[]
}

const statuses: Record<EngineErrorCode, { readonly status: number; readonly title: string }> = {
  "bad-request": { status: 400, title: "bad request" },
  unauthenticated: { status: 401, title: "unauthorized" },
  forbidden: { status: 403, title: "forbidden" },
  "not-found": { status: 404, title: "not found" },
  conflict: { status: 409, title: "conflict" },
  gone: { status: 410, title: "gone" },
  "precondition-failed": { status: 412, title: "precondition failed" },
  "too-large": { status: 413, title: "payload too large" },
  "unsupported-media-type": { status: 415, title: "unsupported media type" },
  invalid: { status: 422, title: "invalid attribute" },
  unprocessable: { status: 422, title: "unprocessable entity" },
  "rate-limited": { status: 429, title: "Too many requests" },
  internal: { status: 500, title: "internal error" },
  "out-of-service": { status: 503, title: "service unavailable" },
  unavailable: { status: 503, title: "service unavailable" },
  pending: { status: 503, title: "service unavailable" },
  busy: { status: 503, title: "service unavailable" },
}

/** Returns the JSON pointer of a domain field in the request document. */
export type Pointers = (field: FieldPath) => string

export const statusOf = (code: EngineErrorCode): number => statuses[code].status

/** Encodes an error. `sent` is the document of the request, in which misspelled members are searched. */
export function encodeError(
  error: EngineError,
  pointers: Pointers = attributePointers(),
  sent?: unknown,
): ErrorDocument {
  const { status, title } = statuses[error.code]
  const common = { status: String(status), title }
  if (error.faults.length === 0)
    return { errors: [{ ...common, detail: shortened(error.message), ...metaOf({ facts: factsIn(error) }) }] }
  return {
    errors: error.faults.map((fault) => {
      const source = sourceOf(fault, pointers)
      return { ...common, detail: `${shortened(fault.detail)}${suggestion(source, sent)}`, ...source }
    }),
  }
}

function suggestion({ source }: Pick<ErrorObject, "source">, sent: unknown): string {
  if (sent === undefined || source === undefined || !("pointer" in source)) return ""
  const near = nearMember(sent, source.pointer)
  return near === undefined ? "" : `; did you mean "${near.meant}" instead of "${near.given}"?`
}

const factsIn = ({ code, facts }: EngineError): ErrorFacts | undefined =>
  code === "unavailable" ? { ...facts, ...outcomeUnknown } : facts

/** Error of one of several items, such as a workspace of a bulk action. Its `code` is more specific than a status. */
export interface ItemError {
  readonly code: EngineErrorCode
  readonly detail: string
  readonly facts?: ErrorFacts
}

export const encodeItemError = ({
  code,
  detail,
  facts,
}: ItemError): ErrorObject & { readonly code: EngineErrorCode } => ({
  status: String(statuses[code].status),
  code,
  title: statuses[code].title,
  detail: shortened(detail),
  ...metaOf({ facts }),
})

/** Decodes an item's error, the inverse of `encodeItemError`. */
export function decodeItemError(members: unknown): ItemError {
  const { code, detail, meta } = (members ?? {}) as Readonly<Record<string, unknown>>
  if (typeof code !== "string" || !Object.hasOwn(statuses, code) || typeof detail !== "string")
    throw unavailable("The server's answer cannot be read: an error has no code or no detail.")
  const facts = factsOf(meta)
  return { code: code as EngineErrorCode, detail, ...(facts === undefined ? {} : { facts }) }
}

/** Distinguishes requests that may have been executed from requests that were not; clients retry both later. */
const outcomeUnknown = { outcome: "unknown" } as const

const metaOf = ({ facts }: Pick<EngineError, "facts">): Pick<ErrorObject, "meta"> =>
  facts === undefined ? {} : { meta: renamed(facts, dashed) }

const renamed = (facts: ErrorFacts, rename: (name: string) => string): ErrorFacts =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [rename(name), value]))

const maxDetail = 1_000

/** Truncates a detail, which may repeat long input. */
const shortened = (detail: string): string =>
  detail.length <= maxDetail ? detail : `${detail.slice(0, maxDetail).toWellFormed()}…`

function sourceOf(fault: Fault, pointers: Pointers): Pick<ErrorObject, "source"> {
  if (fault.parameter !== undefined) return { source: { parameter: fault.parameter } }
  if (fault.header !== undefined) return { source: { header: fault.header } }
  if (fault.pointer !== undefined) return { source: { pointer: fault.pointer } }
  if (fault.field !== undefined) return { source: { pointer: pointers(fault.field) } }
  return {}
}

/**
 * Returns pointers below `/data/attributes`, and below `/data/relationships` for the named relationships:
 * `["vcsRepo", "identifier"]` → `/data/attributes/vcs-repo/identifier`,
 * `["tagBindings", 0, "key"]` → `/data/relationships/tag-bindings/data/0/attributes/key`, `["project", "id"]` → `…/project/data/id`.
 */
export const attributePointers =
  (relationships: readonly string[] = []): Pointers =>
  (field) => {
    const [first, ...rest] = field
    if (typeof first === "string" && relationships.includes(first)) {
      const index = typeof rest[0] === "number" ? rest[0] : undefined
      const members = index === undefined ? rest : rest.slice(1)
      const item = index === undefined ? "" : `/${index}`
      return `/data/relationships/${dashed(first)}/data${item}${memberPointer(members)}`
    }
    return `/data/attributes/${joined(field)}`
  }

/** Returns pointers with wire names that are not the dashed domain names. `names` has them by domain name. */
export const renamedPointers =
  (pointers: Pointers, names: Readonly<Record<string, string>>): Pointers =>
  ([first, ...rest]) =>
    pointers(first === undefined ? [] : [names[first] ?? first, ...rest])

/** Returns the pointer in a document whose `data` is a list: `["data", 0, "id"]` → `/data/0/id`; other members are below `attributes`. */
export const listPointers: Pointers = (field) => {
  const [, index, ...members] = field
  return index === undefined ? "/data" : `/data/${index}${memberPointer(members)}`
}

/** Returns the pointer of a member: `id` and `type` are next to `attributes`, other members inside. */
function memberPointer(members: FieldPath): string {
  if (members.length === 0) return ""
  return members[0] === "id" || members[0] === "type" ? `/${members[0]}` : `/attributes/${joined(members)}`
}

const joined = (path: FieldPath): string =>
  path.map((part) => (typeof part === "number" ? part : dashed(part))).join("/")

const codesByStatus = new Map<number, EngineErrorCode>([
  [400, "bad-request"],
  [401, "unauthenticated"],
  [403, "forbidden"],
  [404, "not-found"],
  [409, "conflict"],
  [410, "gone"],
  [412, "precondition-failed"],
  [413, "too-large"],
  [415, "unsupported-media-type"],
  [422, "unprocessable"],
  [429, "rate-limited"],
  [500, "internal"],
  [503, "busy"],
])

interface DecodeErrorOptions {
  readonly retryAfterMs?: number | undefined
  readonly names?: Readonly<Record<string, string>> | undefined
}

/** Decodes an error for the remote engine. `names` are those of the endpoint's `renamedPointers`. */
export function decodeError(
  status: number,
  document: unknown,
  { retryAfterMs, names = {} }: DecodeErrorOptions = {},
): EngineError {
  const objects = errorObjects(document)
  const detail = objects.map((object) => object.detail).join("; ") || `The server answered ${status}.`
  const faults = objects.filter((object) => object.source !== undefined).map((object) => faultOf(object, names))
  const isInvalid = status === 422 && objects.some((object) => object.title === statuses.invalid.title)
  const isPending = status === 503 && detail.includes("still pending")
  const facts = objects.map(({ meta }) => factsOf(meta)).find((found) => found !== undefined)
  const known = facts?.["outcome"] === outcomeUnknown.outcome ? undefined : codesByStatus.get(status)
  const code = isInvalid ? "invalid" : isPending ? "pending" : (known ?? "unavailable")
  return new EngineError(code, detail, {
    faults,
    ...(facts === undefined ? {} : { facts }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** Returns undefined unless the value has the shape of facts, because a proxy may have answered. */
function factsOf(meta: unknown): ErrorFacts | undefined {
  if (typeof meta !== "object" || meta === null || Array.isArray(meta)) return undefined
  return Object.values(meta).every(isFact) ? renamed(meta as ErrorFacts, camelCased) : undefined
}

function isFact(value: unknown): value is ErrorFacts[string] {
  if (value === null || typeof value === "string") return true
  const { type, id } = (typeof value === "object" ? value : {}) as { readonly type?: unknown; readonly id?: unknown }
  return typeof type === "string" && typeof id === "string"
}

function errorObjects(document: unknown): ErrorObject[] {
  const errors = (document as Partial<ErrorDocument> | null)?.errors
  return Array.isArray(errors) ? errors.filter((error) => typeof error?.detail === "string") : []
}

function faultOf({ detail, source }: ErrorObject, names: Readonly<Record<string, string>>): Fault {
  if (source === undefined) return { detail }
  if ("parameter" in source) return { detail, parameter: source.parameter }
  if ("header" in source) return { detail, header: source.header }
  const field = fieldAt(source.pointer)
  if (field === undefined) return { detail, pointer: source.pointer }
  const [first, ...rest] = field
  const [own = first] = Object.entries(names).find(([, wire]) => wire === first) ?? []
  return { detail, field: own === undefined ? field : [own, ...rest] }
}

/** Inverts `attributePointers`, `listPointers` and the pointer of the owner. Returns undefined for any other pointer. */
export function fieldAt(pointer: string): FieldPath | undefined {
  const list = /^\/data(?:\/(\d+)(?:\/attributes)?(\/.+)?)?$/.exec(pointer)
  if (list !== null) return ["data", ...numbers(list[1]), ...path(list[2])]
  // `id` and `type` of a single resource are next to the attributes.
  const attribute = /^\/data(?:\/attributes)?(\/id|\/type|(?<=\/attributes)\/.+)$/.exec(pointer)
  if (attribute !== null) return path(attribute[1])
  if (pointer === "/meta/owner") return ["owner"]
  const related = /^\/data\/relationships\/([^/]+)\/data(?:\/(\d+))?(?:\/attributes)?(\/.+)?$/.exec(pointer)
  if (related !== null) return [camelCased(related[1] ?? ""), ...numbers(related[2]), ...path(related[3])]
  return undefined
}

const numbers = (text: string | undefined): number[] => (text === undefined ? [] : [Number(text)])
const path = (text = ""): (string | number)[] =>
  text
    .split("/")
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : camelCased(part)))

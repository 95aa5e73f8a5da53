// Decoding of answers. Proxies between client and server may answer too, so every member is checked.
import { z } from "zod"
import { type EngineError, unavailable } from "../../../core/errors.ts"
import type { Page } from "../../../core/page.ts"
import { expectedType } from "./document.ts"

const unreadable = (problem: string): EngineError => unavailable(`The server's answer cannot be read: ${problem}.`)

const isGroup = (part: PropertyKey): boolean => part === "attributes" || part === "relationships"

/** Parses an answer or a part of it. Throws `unavailable` with `name` and the path of the member that is not as expected. */
export function readAnswer<T>(schema: z.ZodType<T>, value: unknown, name: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const place = [name, ...(issue?.path ?? []).filter((part) => !isGroup(part))].join(".")
  throw unreadable(`${place} is not ${issue === undefined ? "readable" : expectedType(issue)}`)
}

const typed = z.object({ type: z.string() })
const resourceOf = z.object({ id: z.string(), type: z.string() })

/** Checks that a resource has an id, and one of these types. */
export function readResource(resource: unknown, ...types: readonly string[]): z.infer<typeof resourceOf> {
  const { type } = readAnswer(typed, resource, "a resource")
  if (!types.includes(type)) throw unreadable(`its type is not ${types.join(" or ")}`)
  return readAnswer(resourceOf, resource, type)
}

/** Decodes a resource. `included` are included resources by type and id: `users/user-1`. */
export type Decode<T> = (resource: unknown, included: ReadonlyMap<string, unknown>) => T

const answerOf = <T>(data: z.ZodType<T>) => z.object({ data, included: z.array(z.unknown()).optional() })
const one = answerOf(z.unknown())
const all = answerOf(z.array(z.unknown()))
const page = z.object({
  meta: z.object({
    pagination: z.object({ "current-page": z.number(), "page-size": z.number(), "total-count": z.number() }),
  }),
})

/** Decodes `{ data: { … } }`. */
export function decodeOne<T>(document: unknown, decode: Decode<T>): T {
  const { data, included } = readAnswer(one, document, "the document")
  return decode(data, byTypeAndId(included))
}

/** Decodes `{ data: [ … ] }` without pages. */
export function decodeAll<T>(document: unknown, decode: Decode<T>): T[] {
  const { data, included } = readAnswer(all, document, "the document")
  const beside = byTypeAndId(included)
  return data.map((resource) => decode(resource, beside))
}

/** Decodes a page and its `meta.pagination`. */
export function decodePageOf<T>(document: unknown, decode: Decode<T>): Page<T> {
  const items = decodeAll(document, decode)
  const { pagination } = readAnswer(page, document, "the document").meta
  return {
    items,
    number: pagination["current-page"],
    size: pagination["page-size"],
    totalCount: pagination["total-count"],
  }
}

function byTypeAndId(included: readonly unknown[] = []): ReadonlyMap<string, unknown> {
  const identified = included.flatMap((resource) => {
    const { success, data } = resourceOf.safeParse(resource)
    return success ? [[`${data.type}/${data.id}`, resource] as const] : []
  })
  return new Map(identified)
}

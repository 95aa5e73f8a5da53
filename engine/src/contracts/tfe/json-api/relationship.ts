import { z } from "zod"
import { decodeList } from "./document.ts"

const identifierSchema = z.object({ id: z.string() })

/** Returns the ids in `{ data: [{ type, id }] }`. */
export const decodeIdentifiers = (body: unknown, type: string): string[] =>
  decodeList(body, identifierSchema, { types: [type] }).map(({ id }) => id)

const maxRelated = 1_000

/** Returns a schema of a to-many relationship. The length is checked first, because each element may have faults of its own. */
export const toManySchema = <T extends z.ZodType>(element: T) =>
  z.object({ data: z.array(z.unknown()).max(maxRelated).pipe(z.array(element)) })

/** To-one relationship of a request. Some clients send an empty id for none (docs/compatibility.md, "Empty values"). */
export const toOneSchema = z.object({ data: z.object({ id: z.string() }).nullable() })

/** Returns the id in a to-one relationship, null for none, or undefined if the relationship is absent. */
export function relatedId(relationship: z.infer<typeof toOneSchema> | undefined): string | null | undefined {
  if (relationship === undefined) return undefined
  return relationship.data === null || relationship.data.id === "" ? null : relationship.data.id
}

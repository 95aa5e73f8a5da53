import type { Fault, FieldPath } from "../../core/errors.ts"
import type { OrganizationId, TagId } from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import { foldName } from "../../organizations/organization.ts"

/** Tag in an organization's pool. Names keep their case and are unique case-insensitively (docs/compatibility.md, "Tags"). */
export interface Tag {
  readonly id: TagId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly createdAt: Instant
}

export interface CountedTag extends Tag {
  /** Number of resources that have the tag. */
  readonly instanceCount: number
}

export const foldTag = foldName

export const maxTagName = 255
/** Reserved prefixes (docs/compatibility.md, "Tags"). */
const reserved = /^hcp?:/i
const flatName = /^[a-zA-Z0-9]([a-zA-Z0-9:_-]*[a-zA-Z0-9])?$/

/** Returns faults of flat tag names. `prefix` is the path of the list in the document: `["tags"]`, `["data"]`. */
export function flatTagFaults(names: readonly string[], prefix: FieldPath): Fault[] {
  return names.flatMap((name, index) => nameFaults(name, [...prefix, index, "name"]))
}

export const isFlatTagName = (name: string): boolean => nameFaults(name, []).length === 0

export const isReserved = (name: string): boolean => reserved.test(name)

function nameFaults(name: string, field: FieldPath): Fault[] {
  if (name === "") return [{ field, detail: "Name can't be blank" }]
  if (name.length > maxTagName) return [{ field, detail: `Name is too long (maximum is ${maxTagName} characters)` }]
  if (isReserved(name)) return [{ field, detail: `Name "${name}" begins with a reserved prefix (hc: or hcp:)` }]
  if (!flatName.test(name))
    return [
      {
        field,
        detail: "Name can only include letters, numbers, :, -, and _, and must begin and end with a letter or number",
      },
    ]
  return []
}

// Tag documents.
import { z } from "zod"
import { invalid, refuseFaults } from "../../core/errors.ts"
import { formatInstant } from "../../core/time.ts"
import { flatTagFaults } from "../../tags/tag.ts"
import type { TagFilter, TagReference, TagView } from "../../tags/tags.ts"
import type { TagId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, decodeList, type Resource, toOne } from "./document.ts"
import { decodeCommaList, encodeCommaList } from "./query.ts"

export const encodeTag = (tag: TagView): Resource => ({
  id: tag.id,
  type: "tags",
  attributes: {
    name: tag.name,
    "created-at": formatInstant(tag.createdAt),
    "instance-count": tag.instanceCount,
  },
  relationships: { organization: toOne("organizations", tag.organizationName) },
})

export function decodeTagFilter(query: URLSearchParams): TagFilter {
  const search = query.get("q")
  const exceptOf = decodeCommaList(query.get("filter[exclude][taggable][id]"))
  return {
    ...(search === null || search === "" ? {} : { search }),
    ...(exceptOf === undefined ? {} : { exceptOf }),
  }
}

const named = z.object({ attributes: z.object({ name: z.string() }) })
const referring = z.object({ id: z.string().nullish(), attributes: z.object({ name: z.string().nullish() }).nullish() })
const types = ["tags"]

/** One tag or a list of them; the answer has the same form. */
export function decodeNewTags(body: unknown): { readonly names: readonly string[]; readonly many: boolean } {
  if (isList(body)) {
    const tags = decodeList(body, named, { types })
    return { names: tags.map(({ attributes }) => attributes.name), many: true }
  }
  const { attributes } = decodeDocument(body, named, { types })
  // Only here is it known that the name stands alone in the document.
  refuseFaults(flatTagFaults([attributes.name], []).map(({ detail }) => ({ detail, pointer: "/data/attributes/name" })))
  return { names: [attributes.name], many: false }
}

/** Elements `{ type, id }` or `{ type, attributes: { name } }`; the id counts where a client sends both. */
export function decodeTagReferences(body: unknown): readonly TagReference[] {
  const elements = decodeList(body, referring, { types })
  const faults = elements.flatMap(({ id, attributes }, index) =>
    !id && !attributes?.name ? [{ detail: "one of id and name must be given", pointer: `/data/${index}` }] : [],
  )
  if (faults.length > 0) throw invalid(faults)
  return elements.map(({ id, attributes }) => (id ? { id } : { name: attributes?.name ?? "" }))
}

const isList = (body: unknown): boolean =>
  typeof body === "object" && body !== null && Array.isArray((body as { readonly data?: unknown }).data)

/** The other direction of `encodeTag`. */
export function decodeTag(resource: unknown): TagView {
  const { id, attributes: own, ...related } = readResource(resource, "tags")
  return {
    id: id as TagId,
    name: own.text("name"),
    createdAt: own.instant("createdAt"),
    instanceCount: own.number("instanceCount"),
    organizationName: related.one("organization"),
  }
}

/** The other direction of `decodeTagFilter`. */
export const encodeTagFilter = ({
  search,
  exceptOf,
}: TagFilter): readonly (readonly [string, string | undefined])[] => [
  ["q", search],
  ["filter[exclude][taggable][id]", exceptOf && encodeCommaList(exceptOf)],
]

/** The other direction of `decodeTagReferences`, and of `decodeNewTags` in its form for many. */
export const encodeTagReferences = (tags: readonly TagReference[]) => ({
  data: tags.map((tag) =>
    "id" in tag ? { type: "tags", id: tag.id } : { type: "tags", attributes: { name: tag.name } },
  ),
})

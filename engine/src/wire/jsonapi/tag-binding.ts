// Tag bindings, with `created-at` and the project that an inherited one comes from.
import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type { Binding, EffectiveTagBinding, ShownEntry } from "../../tags/tag-binding.ts"
import type { TagBindingView } from "../../tags/tags.ts"
import type { ProjectId } from "../../core/ids.ts"
import { type MembersReader, readResource } from "./answer.ts"
import { decodeList, type Resource } from "./document.ts"
import { dashedMembers } from "./member-name.ts"

export const encodeTagBinding = ({ id, key, value, createdAt, ...shown }: TagBindingView): Resource => ({
  id,
  type: "tag-bindings",
  attributes: { key, value, "created-at": formatInstant(createdAt), ...dashedMembers(shown) },
})

export const encodeEffectiveTagBinding = ({
  key,
  value,
  inheritedFrom,
  owners,
  isTag,
  isBinding,
}: EffectiveTagBinding) => ({
  type: "effective-tag-bindings",
  attributes: { key, value, ...dashedMembers({ owners, isTag, isBinding }) },
  ...(inheritedFrom === null ? {} : { links: { "inherited-from": `/api/v2/projects/${inheritedFrom}` } }),
})

/** As resources beside others, which linkage has to find: with ids, and each once. */
export const encodeIdentifiedBindings = (
  bindings: readonly (Pick<TagBindingView, "id"> & EffectiveTagBinding)[],
): Resource[] => [
  ...new Map(
    bindings.map(({ id, key, value, inheritedFrom }) => [
      id,
      { id, ...encodeEffectiveTagBinding({ key, value, inheritedFrom }) },
    ]),
  ).values(),
]

/** `{ type, attributes: { key, value } }`; clients leave an empty value out. */
export const tagBindingSchema = z.object({
  attributes: z.object({ key: z.string(), value: z.string().nullish() }),
})

export const decodeTagBindings = (body: unknown): readonly Binding[] =>
  decodeList(body, tagBindingSchema, { types: ["tag-bindings"] }).map(({ attributes }) => ({
    key: attributes.key,
    value: attributes.value ?? "",
  }))

/** The other direction of `encodeTagBinding`. */
export function decodeTagBinding(resource: unknown): TagBindingView {
  const { id, attributes: own } = readResource(resource, "tag-bindings")
  return {
    id,
    key: own.text("key"),
    value: own.text("value"),
    createdAt: own.instant("createdAt"),
    ...shownMembers(own),
  }
}

/** The other direction of `encodeEffectiveTagBinding`. */
export function decodeEffectiveTagBinding(resource: unknown): EffectiveTagBinding {
  const { attributes: own, links } = readResource(resource, "effective-tag-bindings")
  const project = links.has("inheritedFrom") ? links.text("inheritedFrom").split("/").at(-1) : undefined
  return {
    key: own.text("key"),
    value: own.text("value"),
    inheritedFrom: project === undefined ? null : (project as ProjectId),
    ...shownMembers(own),
  }
}

const shownMembers = (own: MembersReader): ShownEntry & { readonly owners?: readonly string[] } => ({
  ...(own.has("owners") && { owners: own.texts("owners") }),
  ...(own.has("isTag") && own.flags(["isTag", "isBinding"])),
})

/** The other direction of `decodeTagBindings`. */
export const encodeTagBindings = (bindings: readonly Binding[]) => ({
  data: bindings.map(({ key, value }) => ({ type: "tag-bindings", attributes: { key, value } })),
})

// Key-value tags (specification 2.2); workspace-facts 1.5 adds `created-at` and where an inherited one comes from.
import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type { Binding, EffectiveTagBinding } from "../../tags/tag-binding.ts"
import type { TagBindingView } from "../../tags/tags.ts"
import type { ProjectId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeList, type Resource } from "./document.ts"

export const encodeTagBinding = ({ id, key, value, createdAt }: TagBindingView): Resource => ({
  id,
  type: "tag-bindings",
  attributes: { key, value, "created-at": formatInstant(createdAt) },
})

export const encodeEffectiveTagBinding = ({ key, value, inheritedFrom }: EffectiveTagBinding) => ({
  type: "effective-tag-bindings",
  attributes: { key, value },
  ...(inheritedFrom === null ? {} : { links: { "inherited-from": `/api/v2/projects/${inheritedFrom}` } }),
})

/** As resources beside others, which linkage has to find: with ids, and each once. */
export const encodeIdentifiedBindings = (
  bindings: readonly (Pick<TagBindingView, "id"> & EffectiveTagBinding)[],
): Resource[] => [
  ...new Map(
    bindings.map((binding) => [binding.id, { id: binding.id, ...encodeEffectiveTagBinding(binding) }]),
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
  return { id, key: own.text("key"), value: own.text("value"), createdAt: own.instant("createdAt") }
}

/** The other direction of `encodeEffectiveTagBinding`. */
export function decodeEffectiveTagBinding(resource: unknown): EffectiveTagBinding {
  const { attributes: own, links } = readResource(resource, "effective-tag-bindings")
  const project = links.has("inheritedFrom") ? links.text("inheritedFrom").split("/").at(-1) : undefined
  return {
    key: own.text("key"),
    value: own.text("value"),
    inheritedFrom: project === undefined ? null : (project as ProjectId),
  }
}

/** The other direction of `decodeTagBindings`. */
export const encodeTagBindings = (bindings: readonly Binding[]) => ({
  data: bindings.map(({ key, value }) => ({ type: "tag-bindings", attributes: { key, value } })),
})

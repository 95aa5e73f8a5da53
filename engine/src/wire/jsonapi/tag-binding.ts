// Key-value tags (specification 2.2); workspace-facts 1.5 adds `created-at` and where an inherited one comes from.
import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type { Binding, EffectiveTagBinding } from "../../tags/tag-binding.ts"
import type { TagBindingView } from "../../tags/tags.ts"
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

/** `{ type, attributes: { key, value } }`; clients leave an empty value out. */
export const tagBindingSchema = z.object({
  attributes: z.object({ key: z.string(), value: z.string().nullish() }),
})

export const decodeTagBindings = (body: unknown): readonly Binding[] =>
  decodeList(body, tagBindingSchema, { types: ["tag-bindings"] }).map(({ attributes }) => ({
    key: attributes.key,
    value: attributes.value ?? "",
  }))

// Tag pool of an organization, and tags and key-value bindings of workspaces and projects.
import { z } from "zod"
import { invalid, rejectFaults } from "../../core/errors.ts"
import type { ProjectId, TagId } from "../../core/ids.ts"
import { flatTagFaults } from "../../workspaces/tags/tag.ts"
import type { Binding, EffectiveTagBinding } from "../../workspaces/tags/tag-binding.ts"
import type { TagBindingView, TagReference, TagView } from "../../workspaces/tags/tag-api.ts"
import { decodeAll, readAnswer } from "./json-api/answer.ts"
import { decodeDocument, type Resource } from "./json-api/document.ts"
import { instant } from "../codec.ts"
import { type Body, document, elements, identifiers, one, optional, readOnly } from "./document.ts"
import { type Answer, commaList, contract, filledText, list, nothing, page } from "./endpoint.ts"

export const tag = document("tags", {
  id: z.custom<TagId>(),
  attributes: {
    name: readOnly(z.string(), {
      rule: "Name, unique in the organization in any case of its letters.",
      example: "production",
    }),
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
    instanceCount: readOnly(z.number(), { rule: "Number of workspaces with the tag." }),
  },
  relationships: {
    organizationName: readOnly(one<string>("organizations"), { wireName: "organization", rule: "Organization." }),
  },
})

const shown = {
  owners: optional(z.array(z.string()) as z.ZodType<readonly string[]>, { rule: "Owners, with show[owners]=true." }),
  isTag: optional(z.boolean(), { rule: "The entry is a flat tag; with show[tags]=true." }),
  isBinding: optional(z.boolean(), { rule: "The entry was bound as a key; with show[tags]=true." }),
}
const key = readOnly(z.string(), { rule: "Key, at most 128 characters.", example: "env" })
const value = readOnly(z.string(), {
  rule: "Value, at most 256 characters. Empty: a key alone.",
  default: "",
  example: "production",
})

export const tagBinding = document("tag-bindings", {
  id: z.custom<string>(),
  attributes: {
    key,
    value,
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
    ...shown,
  },
  relationships: {},
})

const effective = document("effective-tag-bindings", {
  id: z.custom<string>(),
  attributes: { key, value, ...shown },
  relationships: {},
})
const inheriting = z.object({ links: z.object({ "inherited-from": z.string().optional() }).prefault({}) })
/** Document of an effective binding, without an id. A link names the project from which it is inherited. */
export const effectiveTagBinding = {
  ...effective,
  encode({ inheritedFrom, ...view }: EffectiveTagBinding) {
    const { type, attributes } = effective.encode({ ...view, id: "" })
    return {
      type,
      attributes,
      ...(inheritedFrom !== null && { links: { "inherited-from": `/api/v2/projects/${inheritedFrom}` } }),
    }
  },
  decode(resource: unknown): EffectiveTagBinding {
    const { id: _, ...view } = effective.decode({ ...(resource as object), id: "" })
    const { links } = readAnswer(inheriting, resource, effective.type)
    const project = links["inherited-from"]?.split("/").at(-1)
    return { ...view, inheritedFrom: project === undefined ? null : (project as ProjectId) }
  },
}

/** Encodes bindings as included resources, which linkage refers to: with ids, and without duplicates. */
export const encodeIdentifiedBindings = (
  bindings: readonly (Pick<TagBindingView, "id"> & EffectiveTagBinding)[],
): Resource[] => [
  ...new Map(
    bindings.map(({ id, key: name, value: own, inheritedFrom }) => [
      id,
      { id, ...effectiveTagBinding.encode({ key: name, value: own, inheritedFrom }) },
    ]),
  ).values(),
]

const named = z.object({ attributes: z.object({ name: z.string() }) })
const namedTags = elements("tags", named)

/** Body with one tag or a list of tags; the answer has the same form. */
const newTags: Body<{ readonly names: readonly string[]; readonly many: boolean }> = {
  ...namedTags,
  orOne: true,
  decode(body) {
    if (Array.isArray((body as { readonly data?: unknown } | null | undefined)?.data))
      return { names: namedTags.decode(body).map(({ attributes }) => attributes.name), many: true }
    const { name } = decodeDocument(body, named, { types: ["tags"] }).attributes
    // Checked here, because only this code knows the pointer of a single name.
    rejectFaults(flatTagFaults([name], []).map(({ detail }) => ({ detail, pointer: "/data/attributes/name" })))
    return { names: [name], many: false }
  },
  encode: ({ names }) => namedTags.encode(names.map((name) => ({ attributes: { name } }))),
}
const createdTags: Answer<{ readonly tags: readonly TagView[]; readonly many: boolean }, readonly TagView[]> = {
  ...list(tag),
  orOne: true,
  status: 201,
  encode: ({ tags, many }) => ({ data: many ? tags.map(tag.encode) : tags.map(tag.encode)[0] }),
  decode: (answer) => decodeAll(answer, (one) => tag.decode(one)),
}

const referring = elements(
  "tags",
  z.object({ id: z.string().nullish(), attributes: z.object({ name: z.string().nullish() }).nullish() }),
)
/** Elements `{ type, id }` or `{ type, attributes: { name } }`. The id takes precedence if a client sends both. */
export const tagReferences: Body<readonly TagReference[]> = {
  ...referring,
  decode(body) {
    const sent = referring.decode(body)
    const faults = sent.flatMap(({ id, attributes }, index) =>
      !id && !attributes?.name ? [{ detail: "id or name is required", pointer: `/data/${index}` }] : [],
    )
    if (faults.length > 0) throw invalid(faults)
    return sent.map(({ id, attributes }) => (id ? { id } : { name: attributes?.name ?? "" }))
  },
  encode: (tags) => referring.encode(tags.map((one) => ("id" in one ? one : { attributes: one }))),
}

/** Body with key-value bindings. Clients omit an empty value. */
export const tagBindings = elements(
  "tag-bindings",
  z.codec(z.object({ attributes: z.object({ key: z.string(), value: z.string().nullish() }) }), z.custom<Binding>(), {
    decode: ({ attributes }) => ({ key: attributes.key, value: attributes.value ?? "" }),
    encode: ({ key: name, value: own }) => ({ attributes: { key: name, value: own } }),
  }),
)

const isShown = (parameter: string, rule: string) => ({
  parameter,
  schema: z.codec(z.enum(["true", "false", ""], { error: `${parameter} must be true or false` }), z.custom<boolean>(), {
    decode: (text) => text === "true",
    encode: (isTrue) => (isTrue ? "true" : "false"),
  }) as z.ZodType<boolean, string>,
  rule,
  example: "true",
})
const showing = {
  owners: isShown("show[owners]", "Show the owners of each entry."),
  tags: isShown("show[tags]", "List flat tags as well, as entries without a value."),
}

const ofWorkspace = "/workspaces/:workspace_id"
const ofProject = "/projects/:project_id"
const sees = "Callers who see the workspace."
const updates = "`can-manage-tags` on the workspace."
const seesProject = "Callers who see the project."
const bind = {
  summary: "Adds bindings, or changes their values. A resource has at most ten with a value.",
  rights: updates,
  body: tagBindings,
  owned: true,
} as const

export const tags = contract({
  list: {
    method: "GET",
    path: "/organizations/:organization_name/tags",
    summary: "Lists the tags of an organization.",
    rights: "Members of the organization.",
    query: {
      search: { parameter: "q", schema: filledText, rule: "Part of the name.", example: "prod" },
      exceptOf: {
        parameter: "filter[exclude][taggable][id]",
        schema: commaList,
        rule: "Ids of workspaces whose tags are left out, with commas between.",
        example: "ws-2HRvNs49EWPjDqT1",
      },
    },
    answers: page(tag),
  },
  create: {
    method: "POST",
    path: "/organizations/:organization_name/tags",
    summary: "Creates a tag, or a list of tags. Those that exist are returned as they are.",
    rights: "`manage-workspaces` or `manage-projects`.",
    body: newTags,
    answers: createdTags,
  },
  delete: {
    method: "DELETE",
    path: "/organizations/:organization_name/tags",
    summary: "Deletes tags, and takes them from every resource; all or none.",
    rights: "`manage-workspaces` or `manage-projects`.",
    body: identifiers("tags"),
    owned: true,
    answers: nothing,
  },
  apply: {
    method: "POST",
    path: "/tags/:tag_id/relationships/workspaces",
    summary: "Adds a tag to workspaces, all or none.",
    rights: updates,
    body: identifiers("workspaces"),
    owned: true,
    answers: nothing,
  },
  ofWorkspace: {
    method: "GET",
    path: `${ofWorkspace}/relationships/tags`,
    summary: "Lists the flat tags of a workspace.",
    rights: sees,
    query: { search: { parameter: "name", schema: filledText, rule: "Part of the name.", example: "prod" } },
    answers: page(tag),
  },
  add: {
    method: "POST",
    path: `${ofWorkspace}/relationships/tags`,
    summary: "Adds tags by id or by name. A name that is new is created.",
    rights: updates,
    body: tagReferences,
    owned: true,
    answers: nothing,
  },
  remove: {
    method: "DELETE",
    path: `${ofWorkspace}/relationships/tags`,
    summary: "Removes tags by id or by name. A tag is deleted with its last workspace.",
    rights: updates,
    body: tagReferences,
    owned: true,
    answers: nothing,
  },
  bindings: {
    method: "GET",
    path: `${ofWorkspace}/tag-bindings`,
    summary: "Lists the bindings of a workspace.",
    rights: sees,
    query: showing,
    answers: list(tagBinding),
  },
  bind: { ...bind, method: "PATCH", path: `${ofWorkspace}/tag-bindings`, answers: list(tagBinding) },
  addBindings: { ...bind, method: "POST", path: `${ofWorkspace}/relationships/tag-bindings`, answers: nothing },
  changeBindings: { ...bind, method: "PATCH", path: `${ofWorkspace}/relationships/tag-bindings`, answers: nothing },
  effectiveBindings: {
    method: "GET",
    path: `${ofWorkspace}/effective-tag-bindings`,
    summary: "Lists the bindings of a workspace and of its project. Its own win.",
    rights: sees,
    query: showing,
    answers: list(effectiveTagBinding),
  },
  projectBindings: {
    method: "GET",
    path: `${ofProject}/tag-bindings`,
    summary: "Lists the bindings of a project.",
    rights: seesProject,
    query: showing,
    answers: list(tagBinding),
  },
  effectiveProjectBindings: {
    method: "GET",
    path: `${ofProject}/effective-tag-bindings`,
    summary: "The same list: a project inherits none.",
    rights: seesProject,
    query: showing,
    answers: list(effectiveTagBinding),
  },
  bindProject: {
    ...bind,
    method: "PATCH",
    path: `${ofProject}/tag-bindings`,
    rights: "`can-update` on the project.",
    answers: list(tagBinding),
  },
})

// Data retention policies in their two types and the one of older clients (docs/compatibility.md, "Retention policies").
import { z } from "zod"
import { invalid } from "../../core/errors.ts"
import type { RetentionPolicyView, RetentionRule, RetentionTarget } from "../../workspaces/state/retention-policy.ts"
import { readAnswer, readResource } from "./json-api/answer.ts"
import { decodeDocument, type Resource, toOne } from "./json-api/document.ts"
import { attributePointers } from "./json-api/errors.ts"
import type { Body, Definition } from "./document.ts"
import { contract, nothing, resource } from "./endpoint.ts"

/** Types by kind of rule. The document of a workspace uses them for its policy as well. */
export const retentionTypes = {
  "delete-older": "data-retention-policy-delete-olders",
  "dont-delete": "data-retention-policy-dont-deletes",
} as const
const legacyType = "data-retention-policies"
const daysMember = "delete-older-than-n-days"

const definition = {
  type: retentionTypes["delete-older"],
  attributes: {
    days: {
      schema: z.number().optional(),
      input: z.number().optional(),
      wireName: daysMember,
      rule: `Days after which the data of old versions is deleted. Resources of the type ${retentionTypes["dont-delete"]} have none: nothing is deleted.`,
      example: 30,
    },
  },
  relationships: {
    target: {
      schema: z.object({ data: z.object({ type: z.string(), id: z.string() }).nullable() }),
      rule: "Workspace or organization of the policy; null for the site.",
    },
  },
} satisfies Definition

const targeted = z.object({ relationships: z.object({ target: definition.relationships.target.schema }) })
const dated = z.object({ attributes: z.object({ [daysMember]: z.number() }) })

interface LegacyPolicy extends RetentionPolicyView {
  readonly legacy?: boolean
}

export const retentionPolicy = {
  ...definition,
  /** Encodes a policy. Clients that send the legacy type read no other, so their answers have it. */
  encode: ({ id, rule, target, legacy = false }: LegacyPolicy): Resource => ({
    id,
    type: legacy ? legacyType : retentionTypes[rule.kind],
    attributes: attributesOf(rule),
    relationships: { target: encodeTarget(target) },
  }),
  decode(answer: unknown): RetentionPolicyView {
    const { id, type } = readResource(answer, ...Object.values(retentionTypes))
    const { data: target } = readAnswer(targeted, answer, type).relationships.target
    return {
      id,
      rule:
        type === retentionTypes["dont-delete"]
          ? { kind: "dont-delete" }
          : { kind: "delete-older", days: readAnswer(dated, answer, type).attributes[daysMember] },
      target: target === null ? { kind: "site" } : decodeTarget(target),
    }
  },
}

const attributesOf = (rule: RetentionRule) => (rule.kind === "delete-older" ? { [daysMember]: rule.days } : {})

function encodeTarget(target: RetentionTarget) {
  switch (target.kind) {
    case "workspace":
      return toOne("workspaces", target.id)
    case "organization":
      return toOne("organizations", target.name)
    case "site":
      return { data: null }
    default:
      return target satisfies never
  }
}

const decodeTarget = ({ type, id }: { readonly type: string; readonly id: string }): RetentionTarget =>
  type === "workspaces" ? { kind: "workspace", id } : { kind: "organization", name: id }

// A public sample has the attribute in camel case; clients send it with dashes.
const schema = z.object({
  type: z.string().optional(),
  attributes: z.object({ [daysMember]: z.number().nullish(), deleteOlderThanNDays: z.number().nullish() }).nullish(),
})

const attributes = attributePointers()
export const retentionRule: Body<{ readonly rule: RetentionRule; readonly legacy?: boolean }> = {
  decode(sent) {
    const types = [...Object.values(retentionTypes), legacyType]
    const { type, attributes: given } = decodeDocument(sent, schema, { types })
    const legacy = type === legacyType
    if (type === retentionTypes["dont-delete"]) return { rule: { kind: "dont-delete" }, legacy }
    const days = given?.[daysMember] ?? given?.deleteOlderThanNDays
    if (days !== undefined && days !== null) return { rule: { kind: "delete-older", days }, legacy }
    throw invalid([{ detail: `${daysMember} can't be blank`, pointer: `/data/attributes/${daysMember}` }])
  },
  encode: ({ rule }) => ({ data: { type: retentionTypes[rule.kind], attributes: attributesOf(rule) } }),
  pointers: (field) => (field[0] === "type" ? "/data/type" : attributes(field)),
  names: {},
  describes: { document: definition, creates: true },
}

const endpoints = <const Path extends string>(path: Path, subject: string, reads: string, writes: string) => {
  const set = {
    path,
    summary: `Sets the policy of ${subject}.`,
    rights: writes,
    body: retentionRule,
    answers: resource(retentionPolicy),
  }
  return contract({
    get: {
      method: "GET",
      path,
      summary: `Returns the policy of ${subject}.`,
      rights: reads,
      answers: resource(retentionPolicy),
    },
    set: { method: "POST", ...set },
    change: { method: "PATCH", ...set },
    delete: { method: "DELETE", path, summary: `Removes the policy of ${subject}.`, rights: writes, answers: nothing },
  })
}

export const workspaceRetention = endpoints(
  "/workspaces/:workspace_id/relationships/data-retention-policy",
  "a workspace, which otherwise has that of its organization",
  "Callers who see the workspace.",
  "`can-update` on the workspace.",
)
export const organizationRetention = endpoints(
  "/organizations/:organization_name/relationships/data-retention-policy",
  "an organization",
  "Members of the organization.",
  "Owners and the token of the organization.",
)
export const siteRetention = endpoints(
  "/admin/data-retention-policy-settings",
  "the site",
  "Site administrators.",
  "Site administrators.",
)

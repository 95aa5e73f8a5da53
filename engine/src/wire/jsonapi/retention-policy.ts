// Data retention policies in their two types and the type of older clients (docs/compatibility.md, "Retention policies").
import { z } from "zod"
import { invalid } from "../../core/errors.ts"
import type { RetentionPolicyView, RetentionRule, RetentionTarget } from "../../workspaces/retention-policy.ts"
import { readResource, type ResourceReader } from "./answer.ts"
import { decodeDocument, type Resource, toOne } from "./document.ts"

/** Also what a workspace's document calls its policy. */
export const retentionTypes = {
  "delete-older": "data-retention-policy-delete-olders",
  "dont-delete": "data-retention-policy-dont-deletes",
} as const
export const legacyRetentionType = "data-retention-policies"

/** Clients of the legacy type read no other, so they are answered in it. */
export function encodeRetentionPolicy({ id, rule, target }: RetentionPolicyView, legacy = false): Resource {
  return {
    id,
    type: legacy ? legacyRetentionType : retentionTypes[rule.kind],
    attributes: rule.kind === "delete-older" ? { "delete-older-than-n-days": rule.days } : {},
    relationships: { target: encodeTarget(target) },
  }
}

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

// A public sample spells the attribute in camel case; clients write it with dashes.
const schema = z.object({
  type: z.string().optional(),
  attributes: z
    .object({ "delete-older-than-n-days": z.number().nullish(), deleteOlderThanNDays: z.number().nullish() })
    .nullish(),
})
const types = [retentionTypes["delete-older"], retentionTypes["dont-delete"], legacyRetentionType]

export function decodeRetentionRule(body: unknown): { readonly rule: RetentionRule; readonly legacy: boolean } {
  const { type, attributes } = decodeDocument(body, schema, { types })
  const legacy = type === legacyRetentionType
  if (type === retentionTypes["dont-delete"]) return { rule: { kind: "dont-delete" }, legacy }
  const days = attributes?.["delete-older-than-n-days"] ?? attributes?.deleteOlderThanNDays
  if (days === undefined || days === null)
    throw invalid([
      {
        detail: "delete-older-than-n-days can't be blank",
        pointer: "/data/attributes/delete-older-than-n-days",
      },
    ])
  return { rule: { kind: "delete-older", days }, legacy }
}

/** The other direction of `encodeRetentionPolicy`. */
export function decodeRetentionPolicy(resource: unknown): RetentionPolicyView {
  const policy = readResource(resource, retentionTypes["delete-older"], retentionTypes["dont-delete"])
  return {
    id: policy.id,
    rule:
      policy.type === retentionTypes["dont-delete"]
        ? { kind: "dont-delete" }
        : { kind: "delete-older", days: policy.attributes.number("deleteOlderThanNDays") },
    target: decodeTarget(policy),
  }
}

function decodeTarget(policy: ResourceReader): RetentionTarget {
  const target = policy.identifierOrNull("target")
  if (target === null) return { kind: "site" }
  return target.type === "workspaces" ? { kind: "workspace", id: target.id } : { kind: "organization", name: target.id }
}

/** The other direction of `decodeRetentionRule`. */
export const encodeRetentionRule = (rule: RetentionRule) => ({
  data: {
    type: retentionTypes[rule.kind],
    attributes: rule.kind === "delete-older" ? { "delete-older-than-n-days": rule.days } : {},
  },
})

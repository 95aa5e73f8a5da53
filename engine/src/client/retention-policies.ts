import { decodeRetentionPolicy, encodeRetentionRule } from "../wire/jsonapi/retention-policy.ts"
import type { RetentionPolicies, RetentionTarget } from "../workspaces/retention-policy.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteRetentionPolicies = ({ one, done }: Calls): RetentionPolicies => ({
  get: async (target) => one(decodeRetentionPolicy, { method: "GET", path: at(target) }),
  set: async (target, rule) =>
    one(decodeRetentionPolicy, { method: "POST", path: at(target), document: encodeRetentionRule(rule) }),
  delete: async (target) => done({ method: "DELETE", path: at(target) }),
})

function at(target: RetentionTarget): string {
  switch (target.kind) {
    case "workspace":
      return path`/workspaces/${target.id}/relationships/data-retention-policy`
    case "organization":
      return path`/organizations/${target.name}/relationships/data-retention-policy`
    case "site":
      return "/admin/data-retention-policy-settings"
    default:
      return target satisfies never
  }
}

import { attributePointers, type Pointers } from "../../wire/jsonapi/errors.ts"
import { decodeRetentionRule, encodeRetentionPolicy } from "../../wire/jsonapi/retention-policy.ts"
import type { RetentionTarget } from "../../workspaces/retention-policy.ts"
import { type ApiRequest, noContent, ok, param, type Route } from "../route.ts"

const attributes = attributePointers()
const pointers: Pointers = (field) => (field[0] === "type" ? "/data/type" : attributes(field))

/** Data retention policies of workspaces, organizations and the site. */
export const retentionPolicyRoutes: readonly Route[] = [
  ...policyRoutes("/workspaces/:workspace_id/relationships/data-retention-policy", (request) => ({
    kind: "workspace",
    id: param(request, "workspace_id"),
  })),
  ...policyRoutes("/organizations/:organization_name/relationships/data-retention-policy", (request) => ({
    kind: "organization",
    name: param(request, "organization_name"),
  })),
  ...policyRoutes("/admin/data-retention-policy-settings", () => ({ kind: "site" })),
]

function policyRoutes(path: string, targetOf: (request: ApiRequest) => RetentionTarget): readonly Route[] {
  const set: Route["handle"] = async (request) => {
    const { rule, legacy } = decodeRetentionRule(await request.body())
    const policy = await request.engine.retentionPolicies.set(targetOf(request), rule)
    return ok({ data: encodeRetentionPolicy(policy, legacy) })
  }
  return [
    {
      method: "GET",
      path,
      handle: async (request) =>
        ok({ data: encodeRetentionPolicy(await request.engine.retentionPolicies.get(targetOf(request))) }),
    },
    { method: "POST", path, pointers, handle: set },
    { method: "PATCH", path, pointers, handle: set },
    {
      method: "DELETE",
      path,
      handle: async (request) => {
        await request.engine.retentionPolicies.delete(targetOf(request))
        return noContent
      },
    },
  ]
}

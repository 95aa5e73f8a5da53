import { organizationRetention, siteRetention, workspaceRetention } from "../../contracts/tfe/retention-policy.ts"
import type { RetentionRule, RetentionTarget } from "../../workspaces/retention-policy.ts"
import { implement } from "../implement.ts"
import type { ApiRequest } from "../route.ts"

interface Sent {
  readonly rule: RetentionRule
  readonly legacy?: boolean
}

async function set({ engine }: ApiRequest, target: RetentionTarget, { rule, legacy = false }: Sent) {
  return { ...(await engine.retentionPolicies.set(target, rule)), legacy }
}

const handlers = (targetOf: (id: string) => RetentionTarget) => ({
  get: ({ engine }: ApiRequest, id: string) => engine.retentionPolicies.get(targetOf(id)),
  set: (request: ApiRequest, id: string, sent: Sent) => set(request, targetOf(id), sent),
  change: (request: ApiRequest, id: string, sent: Sent) => set(request, targetOf(id), sent),
  delete: ({ engine }: ApiRequest, id: string) => engine.retentionPolicies.delete(targetOf(id)),
})
const site = { kind: "site" } as const

export const retentionPolicyRoutes = [
  ...implement(
    workspaceRetention,
    handlers((id) => ({ kind: "workspace", id })),
  ),
  ...implement(
    organizationRetention,
    handlers((name) => ({ kind: "organization", name })),
  ),
  ...implement(siteRetention, {
    get: ({ engine }) => engine.retentionPolicies.get(site),
    set: (request, sent) => set(request, site, sent),
    change: (request, sent) => set(request, site, sent),
    delete: ({ engine }) => engine.retentionPolicies.delete(site),
  }),
]

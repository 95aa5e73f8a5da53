import { organizationRetention, siteRetention, workspaceRetention } from "../contracts/tfe/retention-policy.ts"
import type { RetentionPolicies, RetentionTarget } from "../workspaces/retention-policy.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteRetentionPolicies(transport: Transport): RetentionPolicies {
  const ofWorkspace = remote(workspaceRetention, transport)
  const ofOrganization = remote(organizationRetention, transport)
  const ofSite = remote(siteRetention, transport)
  const callsOf = (target: RetentionTarget): Pick<typeof ofSite, "get" | "set" | "delete"> => {
    if (target.kind === "site") return ofSite
    const [calls, id] = target.kind === "workspace" ? [ofWorkspace, target.id] : [ofOrganization, target.name]
    return { get: () => calls.get(id), set: (sent) => calls.set(id, sent), delete: () => calls.delete(id) }
  }
  return {
    get: (target) => callsOf(target).get(),
    set: (target, rule) => callsOf(target).set({ rule }),
    delete: (target) => callsOf(target).delete(),
  }
}

import { runClaims } from "../contracts/tfe/run-claim.ts"
import type { RunClaims } from "../workspaces/run-claims.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { workspaceId } from "./workspaces.ts"

export function remoteRunClaims(transport: Transport): RunClaims {
  const { claimOfOrganization, claimOfWorkspace, claimOfAgentPool, ...same } = remote(runClaims, transport)
  return {
    ...same,
    async claim(target, input) {
      switch (target.kind) {
        case "organization":
          return claimOfOrganization(target.name, input)
        case "workspace":
          return claimOfWorkspace(await workspaceId(transport, target.ref), input)
        case "agent-pool":
          return claimOfAgentPool(target.id, input)
        default:
          return target satisfies never
      }
    },
    appendLog: async (id, stage, offset, bytes) => (await same.appendLog(id, stage, { offset }, bytes)).size,
    variables: async (id) =>
      (await same.variables(id)).map(({ key, value, category, hcl, sensitive }) => ({
        key,
        value,
        category,
        hcl,
        sensitive,
      })),
  }
}

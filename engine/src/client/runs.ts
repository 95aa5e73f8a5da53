import { listQueryOf, runs } from "../contracts/tfe/run.ts"
import type { RunView } from "../workspaces/run.ts"
import type { Runs } from "../workspaces/runs.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"
import { byWorkspaceId, workspaceId } from "./workspaces.ts"

export function remoteRuns(transport: Transport): Runs {
  const { planOfRun: _plan, applyOfRun: _apply, planJsonOfRun: _json, ...same } = remote(runs, transport)
  const { getPlan, getApply, ...rest } = same
  const get = async (id: string): Promise<RunView> => (await same.get(id, {})).data
  return {
    ...rest,
    create: async (ref, input) => same.create({ ...input, workspaceId: await workspaceId(transport, ref) }),
    get,
    getByPlan: async (planId) => get((await getPlan(planId)).runId),
    getByApply: async (applyId) => get((await getApply(applyId)).runId),
    async planJson(planId) {
      const json = await same.planJson(planId)
      return json?.length === 0 ? undefined : json
    },
    list: byWorkspaceId(transport, (id, query, page) => same.list(id, listQueryOf(query), page)),
    listForOrganization: async (organization, query, page) =>
      same.listForOrganization(organization, listQueryOf(query), page),
    async capacity(organization) {
      const { pending, running } = await same.capacity(organization)
      return { pending, running }
    },
    addComment: async (id, body) => same.addComment(id, { body }),
  }
}

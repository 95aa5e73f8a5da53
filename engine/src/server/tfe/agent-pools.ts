import { agentPools } from "../../contracts/tfe/agent-pool.ts"
import { implement } from "./implement.ts"

export const agentPoolRoutes = implement(agentPools, {
  create: ({ engine }, organization, input) => engine.agentPools.create(organization, input),
  list: ({ engine }, organization, filter, page) => engine.agentPools.list(organization, filter, page),
  get: ({ engine }, id) => engine.agentPools.get(id),
  update: ({ engine }, id, patch) => engine.agentPools.update(id, patch),
  delete: ({ engine }, id) => engine.agentPools.delete(id),
})

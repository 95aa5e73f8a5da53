import type { AgentPools } from "../organizations/agent-pool.ts"
import { decodeAgentPool, encodeAgentPoolFilter, encodeAgentPoolPatch } from "../wire/jsonapi/agent-pool.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteAgentPools = ({ one, page, done }: Calls): AgentPools => ({
  create: async (organization, input) =>
    one(decodeAgentPool, {
      method: "POST",
      path: path`/organizations/${organization}/agent-pools`,
      document: encodeAgentPoolPatch(input),
    }),
  list: async (organization, filter, request) =>
    page(decodeAgentPool, path`/organizations/${organization}/agent-pools`, request, encodeAgentPoolFilter(filter)),
  get: async (id) => one(decodeAgentPool, { method: "GET", path: path`/agent-pools/${id}` }),
  update: async (id, patch) =>
    one(decodeAgentPool, { method: "PATCH", path: path`/agent-pools/${id}`, document: encodeAgentPoolPatch(patch) }),
  delete: async (id) => done({ method: "DELETE", path: path`/agent-pools/${id}` }),
})

import {
  agentPoolPointers as pointers,
  decodeAgentPoolFilter,
  decodeAgentPoolInput,
  decodeAgentPoolPatch,
  encodeAgentPool,
} from "../../wire/jsonapi/agent-pool.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organization = (request: ApiRequest) => param(request, "organization_name")
const pool = (request: ApiRequest) => param(request, "agent_pool_id")

export const agentPoolRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/organizations/:organization_name/agent-pools",
    pointers,
    handle: async (request) => {
      const input = decodeAgentPoolInput(await request.body())
      return created({ data: encodeAgentPool(await request.engine.agentPools.create(organization(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/organizations/:organization_name/agent-pools",
    handle: async (request) => {
      const { query, url } = request
      const filter = decodeAgentPoolFilter(query)
      const found = await request.engine.agentPools.list(organization(request), filter, decodePage(query))
      return ok(encodePage(found, encodeAgentPool, url))
    },
  },
  {
    method: "GET",
    path: "/agent-pools/:agent_pool_id",
    handle: async (request) => ok({ data: encodeAgentPool(await request.engine.agentPools.get(pool(request))) }),
  },
  {
    method: "PATCH",
    path: "/agent-pools/:agent_pool_id",
    pointers,
    handle: async (request) => {
      const patch = decodeAgentPoolPatch(await request.body())
      return ok({ data: encodeAgentPool(await request.engine.agentPools.update(pool(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/agent-pools/:agent_pool_id",
    handle: async (request) => {
      await request.engine.agentPools.delete(pool(request))
      return noContent
    },
  },
]

import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type { AgentPoolInput, AgentPoolView } from "../../organizations/agent-pool.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toMany, toOne } from "./document.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"

export const encodeAgentPool = (pool: AgentPoolView): Resource => ({
  id: pool.id,
  type: "agent-pools",
  attributes: {
    name: pool.name,
    "created-at": formatInstant(pool.createdAt),
    "organization-scoped": true,
    // Agents are known by their claims of runs alone, and those stand beside the runs.
    "agent-count": 0,
  },
  relationships: {
    organization: toOne("organizations", pool.organizationName),
    workspaces: toMany("workspaces", pool.workspaceIds),
    "allowed-workspaces": toMany("workspaces", []),
  },
  links: { self: `/api/v2/agent-pools/${pool.id}` },
})

const input = z.object({
  attributes: z.object({ name: z.string(), "organization-scoped": z.boolean().nullish() }),
})
const patch = z.object({
  attributes: z.object({ name: z.string().optional(), "organization-scoped": z.boolean().nullish() }).prefault({}),
})
const types = { types: ["agent-pools"] }

export function decodeAgentPoolInput(body: unknown): AgentPoolInput {
  const { name, "organization-scoped": scoped } = decodeDocument(body, input, types).attributes
  return { name, ...given({ organizationScoped: scoped ?? undefined }) }
}

export function decodeAgentPoolPatch(body: unknown): Partial<AgentPoolInput> {
  const { name, "organization-scoped": scoped } = decodeDocument(body, patch, types).attributes
  return given({ name, organizationScoped: scoped ?? undefined })
}

/** The other direction of `encodeAgentPool`. */
export function decodeAgentPool(resource: unknown): AgentPoolView {
  const { id, attributes: own, ...related } = readResource(resource, "agent-pools")
  return {
    id,
    organizationName: related.one("organization"),
    name: own.text("name"),
    createdAt: own.instant("createdAt"),
    workspaceIds: related.many("workspaces") as WorkspaceId[],
  }
}

/** Of an input as well as of a patch. */
export const encodeAgentPoolPatch = (patch: Partial<AgentPoolInput>): RequestDocument =>
  encodeDocument("agent-pools", dashedMembers(patch))

import { z } from "zod"
import { formatInstant } from "../../core/time.ts"
import type { AgentPoolFilter, AgentPoolInput, AgentPoolView } from "../../organizations/agent-pool.ts"
import type { ProjectId, WorkspaceId } from "../../core/ids.ts"
import { readResource } from "./answer.ts"
import { decodeDocument, encodeDocument, type RequestDocument, type Resource, toMany, toOne } from "./document.ts"
import { attributePointers, renamedPointers } from "./errors.ts"
import { given } from "./given.ts"
import { dashedMembers } from "./member-name.ts"
import { toManySchema } from "./relationship.ts"

export const encodeAgentPool = (pool: AgentPoolView): Resource => ({
  id: pool.id,
  type: "agent-pools",
  attributes: {
    name: pool.name,
    "created-at": formatInstant(pool.createdAt),
    "organization-scoped": pool.organizationScoped,
    // Agents are known by their claims of runs alone, and those stand beside the runs.
    "agent-count": 0,
  },
  relationships: {
    organization: toOne("organizations", pool.organizationName),
    workspaces: toMany("workspaces", pool.workspaceIds),
    "allowed-workspaces": toMany("workspaces", pool.allowedWorkspaceIds),
    "allowed-projects": toMany("projects", pool.allowedProjectIds),
    "excluded-workspaces": toMany("workspaces", pool.excludedWorkspaceIds),
  },
  links: { self: `/api/v2/agent-pools/${pool.id}` },
})

/** Wire names of the lists of a scope, which pointers of faults need too. */
export const agentPoolNames = {
  allowedWorkspaceIds: "allowedWorkspaces",
  allowedProjectIds: "allowedProjects",
  excludedWorkspaceIds: "excludedWorkspaces",
}
export const agentPoolPointers = renamedPointers(attributePointers(Object.values(agentPoolNames)), agentPoolNames)

const named = toManySchema(z.object({ id: z.string() })).optional()
const relationships = z
  .object({ "allowed-workspaces": named, "allowed-projects": named, "excluded-workspaces": named })
  .optional()
const input = z.object({
  attributes: z.object({ name: z.string(), "organization-scoped": z.boolean().nullish() }),
  relationships,
})
const patch = z.object({
  attributes: z.object({ name: z.string().optional(), "organization-scoped": z.boolean().nullish() }).prefault({}),
  relationships,
})
const types = { types: ["agent-pools"] }

export function decodeAgentPoolInput(body: unknown): AgentPoolInput {
  const { attributes, relationships: related } = decodeDocument(body, input, types)
  return { ...patchOf(attributes, related), name: attributes.name }
}

export function decodeAgentPoolPatch(body: unknown): Partial<AgentPoolInput> {
  const { attributes, relationships: related } = decodeDocument(body, patch, types)
  return patchOf(attributes, related)
}

function patchOf(
  { name, "organization-scoped": scoped }: z.infer<typeof patch>["attributes"],
  related: z.infer<typeof relationships>,
): Partial<AgentPoolInput> {
  const ids = (relationship: z.infer<typeof named>) => relationship?.data.map(({ id }) => id)
  return given({
    name,
    organizationScoped: scoped ?? undefined,
    allowedWorkspaceIds: ids(related?.["allowed-workspaces"]),
    allowedProjectIds: ids(related?.["allowed-projects"]),
    excludedWorkspaceIds: ids(related?.["excluded-workspaces"]),
  })
}

export const decodeAgentPoolFilter = (query: URLSearchParams): AgentPoolFilter =>
  given({
    search: query.get("q") || undefined,
    allowedWorkspaceName: query.get("filter[allowed_workspaces][name]") || undefined,
    allowedProjectName: query.get("filter[allowed_projects][name]") || undefined,
  })

/** The other direction of `decodeAgentPoolFilter`. */
export const encodeAgentPoolFilter = ({
  search,
  allowedWorkspaceName,
  allowedProjectName,
}: AgentPoolFilter): readonly (readonly [string, string | undefined])[] => [
  ["q", search],
  ["filter[allowed_workspaces][name]", allowedWorkspaceName],
  ["filter[allowed_projects][name]", allowedProjectName],
]

/** The other direction of `encodeAgentPool`. */
export function decodeAgentPool(resource: unknown): AgentPoolView {
  const { id, attributes: own, ...related } = readResource(resource, "agent-pools")
  return {
    id,
    organizationName: related.one("organization"),
    name: own.text("name"),
    createdAt: own.instant("createdAt"),
    organizationScoped: own.flag("organizationScoped"),
    workspaceIds: related.many("workspaces") as WorkspaceId[],
    allowedWorkspaceIds: related.many("allowedWorkspaces") as WorkspaceId[],
    allowedProjectIds: related.many("allowedProjects") as ProjectId[],
    excludedWorkspaceIds: related.many("excludedWorkspaces") as WorkspaceId[],
  }
}

/** Of an input as well as of a patch. */
export function encodeAgentPoolPatch(patch: Partial<AgentPoolInput>): RequestDocument {
  const { allowedWorkspaceIds, allowedProjectIds, excludedWorkspaceIds, ...settings } = patch
  return encodeDocument("agent-pools", dashedMembers(settings), {
    "allowed-workspaces": allowedWorkspaceIds && toMany("workspaces", allowedWorkspaceIds),
    "allowed-projects": allowedProjectIds && toMany("projects", allowedProjectIds),
    "excluded-workspaces": excludedWorkspaceIds && toMany("workspaces", excludedWorkspaceIds),
  })
}

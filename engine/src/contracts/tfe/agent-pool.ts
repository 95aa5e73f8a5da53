import { z } from "zod"
import type { ProjectId, WorkspaceId } from "../../core/ids.ts"
import { instant, nullAsAbsent } from "../codec.ts"
import { constant, document, many, manyInput, one, readOnly, writable } from "./document.ts"
import { contract, created, filledText, nothing, page, resource } from "./endpoint.ts"

export const agentPool = document("agent-pools", {
  id: z.custom<string>(),
  self: (id) => `/api/v2/agent-pools/${id}`,
  attributes: {
    name: writable(z.string(), {
      required: true,
      rule: "Name, unique in the organization, at most 90 characters.",
      example: "on-premises",
    }),
    createdAt: readOnly(instant, { rule: "Time of the creation.", example: "2026-11-26T12:00:00.000Z" }),
    organizationScoped: writable(z.boolean(), {
      input: nullAsAbsent(z.boolean()),
      rule: "All workspaces but the excluded ones may use the pool. False if a request only names workspaces or projects.",
      default: true,
      example: false,
    }),
    agentCount: constant(0, { rule: "Always 0: agents are known by the runs that they claim." }),
  },
  relationships: {
    organizationName: readOnly(one<string>("organizations"), { wireName: "organization", rule: "Organization." }),
    workspaceIds: readOnly(many<WorkspaceId>("workspaces"), {
      wireName: "workspaces",
      rule: "Workspaces that use the pool.",
    }),
    allowedWorkspaceIds: writable(many<WorkspaceId>("workspaces"), {
      input: manyInput<string>("workspaces"),
      wireName: "allowed-workspaces",
      rule: "Workspaces that may use the pool.",
    }),
    allowedProjectIds: writable(many<ProjectId>("projects"), {
      input: manyInput<string>("projects"),
      wireName: "allowed-projects",
      rule: "Projects whose workspaces may use the pool.",
    }),
    excludedWorkspaceIds: writable(many<WorkspaceId>("workspaces"), {
      input: manyInput<string>("workspaces"),
      wireName: "excluded-workspaces",
      rule: "Workspaces that may not use the pool.",
    }),
  },
})

const all = "/organizations/:organization_name/agent-pools"
const manages = "`manage-agent-pools`."

export const agentPools = contract({
  create: {
    method: "POST",
    path: all,
    summary: "Creates an agent pool.",
    rights: manages,
    body: agentPool.input,
    answers: created(agentPool),
  },
  list: {
    method: "GET",
    path: all,
    summary: "Lists the agent pools of an organization.",
    rights: "Members of the organization.",
    query: {
      search: { parameter: "q", schema: filledText, rule: "Part of the name.", example: "prem" },
      allowedWorkspaceName: {
        parameter: "filter[allowed_workspaces][name]",
        schema: filledText,
        rule: "Name of a workspace that may use the pools.",
        example: "network",
      },
      allowedProjectName: {
        parameter: "filter[allowed_projects][name]",
        schema: filledText,
        rule: "Name of a project whose workspaces may all use the pools.",
        example: "infrastructure",
      },
    },
    answers: page(agentPool),
  },
  get: {
    method: "GET",
    path: "/agent-pools/:agent_pool_id",
    summary: "Returns an agent pool, with the workspaces and projects that the caller sees.",
    rights: "Members of the organization.",
    answers: resource(agentPool),
  },
  update: {
    method: "PATCH",
    path: "/agent-pools/:agent_pool_id",
    summary: "Changes an agent pool. Each list that is given replaces the one before, as far as the caller sees it.",
    rights: manages,
    body: agentPool.patch,
    answers: resource(agentPool),
  },
  delete: {
    method: "DELETE",
    path: "/agent-pools/:agent_pool_id",
    summary: "Deletes an agent pool that nothing uses.",
    rights: manages,
    answers: nothing,
  },
})

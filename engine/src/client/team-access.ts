import type { TeamProjects } from "../organizations/team-project.ts"
import {
  decodeTeamProject,
  decodeTeamWorkspace,
  encodeTeamProjectInput,
  encodeTeamProjectPatch,
  encodeTeamWorkspaceInput,
  encodeTeamWorkspacePatch,
} from "../wire/jsonapi/team-access.ts"
import type { TeamWorkspaces } from "../workspaces/team-workspace.ts"
import type { Calls } from "./calls.ts"
import { path } from "./transport.ts"

export const remoteTeamWorkspaces = ({ one, page, done }: Calls): TeamWorkspaces => ({
  create: (input) =>
    one(decodeTeamWorkspace, {
      method: "POST",
      path: "/team-workspaces",
      document: encodeTeamWorkspaceInput(input),
    }),
  list: (workspaceId, request) =>
    page(decodeTeamWorkspace, "/team-workspaces", request, [["filter[workspace][id]", workspaceId]]),
  get: async (id) => one(decodeTeamWorkspace, { method: "GET", path: path`/team-workspaces/${id}` }),
  update: async (id, patch) =>
    one(decodeTeamWorkspace, {
      method: "PATCH",
      path: path`/team-workspaces/${id}`,
      document: encodeTeamWorkspacePatch(patch),
    }),
  delete: async (id) => done({ method: "DELETE", path: path`/team-workspaces/${id}` }),
})

export const remoteTeamProjects = ({ one, page, done }: Calls): TeamProjects => ({
  create: (input) =>
    one(decodeTeamProject, { method: "POST", path: "/team-projects", document: encodeTeamProjectInput(input) }),
  list: (projectId, request) =>
    page(decodeTeamProject, "/team-projects", request, [["filter[project][id]", projectId]]),
  get: async (id) => one(decodeTeamProject, { method: "GET", path: path`/team-projects/${id}` }),
  update: async (id, patch) =>
    one(decodeTeamProject, {
      method: "PATCH",
      path: path`/team-projects/${id}`,
      document: encodeTeamProjectPatch(patch),
    }),
  delete: async (id) => done({ method: "DELETE", path: path`/team-projects/${id}` }),
})

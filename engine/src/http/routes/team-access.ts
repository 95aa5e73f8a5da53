import { badRequest } from "../../core/errors.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import { decodePage } from "../../wire/jsonapi/query.ts"
import {
  decodeTeamProjectInput,
  decodeTeamProjectPatch,
  decodeTeamWorkspaceInput,
  decodeTeamWorkspacePatch,
  encodeTeamProject,
  encodeTeamWorkspace,
  teamAccessPointers as pointers,
} from "../../wire/jsonapi/team-access.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const idOf = (request: ApiRequest) => param(request, "id")

/** These lists are about one subject and have no meaning without it. */
function requiredFilter(query: URLSearchParams, parameter: string): string {
  const id = query.get(parameter)
  if (id === null || id === "")
    throw badRequest("The list needs a filter.", [{ detail: `${parameter} is required`, parameter }])
  return id
}

export const teamAccessRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/team-workspaces",
    handle: async ({ engine, query, url }) => {
      const workspaceId = requiredFilter(query, "filter[workspace][id]")
      return ok(encodePage(await engine.teamWorkspaces.list(workspaceId, decodePage(query)), encodeTeamWorkspace, url))
    },
  },
  {
    method: "POST",
    path: "/team-workspaces",
    pointers,
    handle: async (request) => {
      const input = decodeTeamWorkspaceInput(await request.body())
      return created({ data: encodeTeamWorkspace(await request.engine.teamWorkspaces.create(input)) })
    },
  },
  {
    method: "GET",
    path: "/team-workspaces/:id",
    handle: async (request) =>
      ok({ data: encodeTeamWorkspace(await request.engine.teamWorkspaces.get(idOf(request))) }),
  },
  {
    method: "PATCH",
    path: "/team-workspaces/:id",
    pointers,
    handle: async (request) => {
      const patch = decodeTeamWorkspacePatch(await request.body())
      return ok({ data: encodeTeamWorkspace(await request.engine.teamWorkspaces.update(idOf(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/team-workspaces/:id",
    handle: async (request) => {
      await request.engine.teamWorkspaces.delete(idOf(request))
      return noContent
    },
  },
  {
    method: "GET",
    path: "/team-projects",
    handle: async ({ engine, query, url }) => {
      const projectId = requiredFilter(query, "filter[project][id]")
      return ok(encodePage(await engine.teamProjects.list(projectId, decodePage(query)), encodeTeamProject, url))
    },
  },
  {
    method: "POST",
    path: "/team-projects",
    pointers,
    handle: async (request) => {
      const input = decodeTeamProjectInput(await request.body())
      return created({ data: encodeTeamProject(await request.engine.teamProjects.create(input)) })
    },
  },
  {
    method: "GET",
    path: "/team-projects/:id",
    handle: async (request) => ok({ data: encodeTeamProject(await request.engine.teamProjects.get(idOf(request))) }),
  },
  {
    method: "PATCH",
    path: "/team-projects/:id",
    pointers,
    handle: async (request) => {
      const patch = decodeTeamProjectPatch(await request.body())
      return ok({ data: encodeTeamProject(await request.engine.teamProjects.update(idOf(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/team-projects/:id",
    handle: async (request) => {
      await request.engine.teamProjects.delete(idOf(request))
      return noContent
    },
  },
]

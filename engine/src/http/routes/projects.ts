import { decodeIdentifiers } from "../../wire/jsonapi/relationship.ts"
import { encodePage } from "../../wire/jsonapi/links.ts"
import {
  decodeProjectInput,
  decodeProjectPatch,
  encodeProject,
  projectPointers as pointers,
} from "../../wire/jsonapi/project.ts"
import { decodeCommaList, decodePage } from "../../wire/jsonapi/query.ts"
import { given } from "../../wire/jsonapi/given.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organizationOf = (request: ApiRequest) => param(request, "organization_name")
const idOf = (request: ApiRequest) => param(request, "project_id")

export const projectRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/organizations/:organization_name/projects",
    handle: async (request) => {
      const { engine, query, url } = request
      const filter = given({
        names: decodeCommaList(query.get("filter[names]")),
        search: query.get("q") ?? undefined,
      })
      const page = await engine.projects.list(organizationOf(request), filter, decodePage(query))
      return ok(encodePage(page, encodeProject, url))
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/projects",
    pointers,
    handle: async (request) => {
      const input = decodeProjectInput(await request.body())
      return created({ data: encodeProject(await request.engine.projects.create(organizationOf(request), input)) })
    },
  },
  {
    method: "GET",
    path: "/projects/:project_id",
    handle: async (request) => ok({ data: encodeProject(await request.engine.projects.get(idOf(request))) }),
  },
  {
    method: "PATCH",
    path: "/projects/:project_id",
    pointers,
    handle: async (request) => {
      const patch = decodeProjectPatch(await request.body())
      return ok({ data: encodeProject(await request.engine.projects.update(idOf(request), patch)) })
    },
  },
  {
    method: "DELETE",
    path: "/projects/:project_id",
    handle: async (request) => {
      await request.engine.projects.delete(idOf(request))
      return noContent
    },
  },
  {
    method: "POST",
    path: "/projects/:project_id/relationships/workspaces",
    handle: async (request) => {
      const workspaceIds = decodeIdentifiers(await request.body(), "workspaces")
      await request.engine.workspaces.moveToProject(idOf(request), workspaceIds)
      return noContent
    },
  },
]

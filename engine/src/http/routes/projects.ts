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
import { decodeInclude } from "../../wire/jsonapi/include.ts"
import { linked } from "../../wire/jsonapi/document.ts"
import { encodeOrganization } from "../../wire/jsonapi/organization.ts"
import { encodeIdentifiedBindings } from "../../wire/jsonapi/tag-binding.ts"
import { decodeWriter } from "../../wire/jsonapi/writer.ts"
import type { ProjectView } from "../../organizations/projects.ts"
import type { TagBindingView } from "../../tags/tags.ts"
import { readable } from "../included.ts"
import { type ApiRequest, created, noContent, ok, param, type Route } from "../route.ts"

const organizationOf = (request: ApiRequest) => param(request, "organization_name")
const idOf = (request: ApiRequest) => param(request, "project_id")

const projectParts = ["effective_tag_bindings", "organization"] as const

/** A project whose bindings come along names them: elsewhere its document only links to them. */
async function besideProjects({ engine, query }: ApiRequest, projects: readonly ProjectView[]) {
  const parts = decodeInclude(query, projectParts)
  if (parts.size === 0) return { encode: encodeProject }
  const bindings = new Map<string, readonly TagBindingView[]>()
  if (parts.has("effective_tag_bindings"))
    for (const { id } of projects) bindings.set(id, await engine.tags.projectBindings(id))
  const organizations = parts.has("organization")
    ? await readable(
        projects.map(({ organizationName }) => organizationName),
        (name) => engine.organizations.get(name),
      )
    : []
  const effective = [...bindings.values()].flat().map((binding) => ({ ...binding, inheritedFrom: null }))
  return {
    encode: (project: ProjectView) => {
      const own = bindings.get(project.id)
      const resource = encodeProject(project)
      return own === undefined ? resource : linked(resource, "effective-tag-bindings", own)
    },
    included: [...encodeIdentifiedBindings(effective), ...organizations.map(encodeOrganization)],
  }
}

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
      const beside = await besideProjects(request, page.items)
      return ok(encodePage(page, beside.encode, url, beside.included))
    },
  },
  {
    method: "POST",
    path: "/organizations/:organization_name/projects",
    pointers,
    handle: async (request) => {
      const body = await request.body()
      const input = decodeProjectInput(body)
      const writer = decodeWriter(request.headers, body)
      const project = await request.engine.projects.create(organizationOf(request), input, writer)
      return created({ data: encodeProject(project) })
    },
  },
  {
    method: "GET",
    path: "/projects/:project_id",
    handle: async (request) => {
      const project = await request.engine.projects.get(idOf(request))
      const { encode, included } = await besideProjects(request, [project])
      return ok({ data: encode(project), ...(included && { included }) })
    },
  },
  {
    method: "PATCH",
    path: "/projects/:project_id",
    pointers,
    handle: async (request) => {
      const body = await request.body()
      const patch = decodeProjectPatch(body)
      const writer = decodeWriter(request.headers, body)
      return ok({ data: encodeProject(await request.engine.projects.update(idOf(request), patch, writer)) })
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

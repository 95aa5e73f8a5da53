import { organization } from "../../contracts/tfe/organization.ts"
import { projects } from "../../contracts/tfe/project.ts"
import { encodeIdentifiedBindings } from "../../contracts/tfe/tag.ts"
import type { ProjectView } from "../../organizations/project.ts"
import type { TagBindingView } from "../../workspaces/tags/tag-api.ts"
import { implement } from "./implement.ts"
import { readable } from "./included.ts"
import type { ApiRequest } from "./route.ts"

type Parts = readonly ("effective_tag_bindings" | "organization")[]

/** Adds included resources. A project lists its tag bindings only if they are included; other documents link to them. */
async function withIncluded({ engine }: ApiRequest, found: readonly ProjectView[], parts: Parts | undefined) {
  if (parts === undefined) return { items: found }
  const bindings = new Map<string, readonly TagBindingView[]>()
  if (parts.includes("effective_tag_bindings"))
    for (const { id } of found) bindings.set(id, await engine.tags.projectBindings(id))
  const names = parts.includes("organization") ? found.map(({ organizationName }) => organizationName) : []
  const organizations = await readable(names, (name) => engine.organizations.get(name))
  const effective = [...bindings.values()].flat().map((binding) => ({ ...binding, inheritedFrom: null }))
  return {
    items: found.map((view) => ({ ...view, effectiveTagBindingIds: bindings.get(view.id)?.map(({ id }) => id) })),
    included: [...encodeIdentifiedBindings(effective), ...organizations.map(organization.encode)],
  }
}

export const projectRoutes = implement(projects, {
  async list(request, organizationName, { include, ...filter }, page) {
    const found = await request.engine.projects.list(organizationName, filter, page)
    return { ...found, ...(await withIncluded(request, found.items, include)) }
  },
  create: ({ engine }, organizationName, input, writer) => engine.projects.create(organizationName, input, writer),
  async get(request, id, { include }) {
    const found = await request.engine.projects.get(id)
    const { items, included } = await withIncluded(request, [found], include)
    return { data: items[0] ?? found, included }
  },
  update: ({ engine }, id, patch, writer) => engine.projects.update(id, patch, writer),
  delete: ({ engine }, id) => engine.projects.delete(id),
  moveWorkspaces: ({ engine }, id, workspaceIds) => engine.workspaces.moveToProject(id, workspaceIds),
})

import { tags } from "../../contracts/tfe/tag.ts"
import { implement } from "./implement.ts"

export const tagRoutes = implement(tags, {
  list: ({ engine }, organization, filter, page) => engine.tags.list(organization, filter, page),
  create: async ({ engine }, organization, { names, many }) => ({
    tags: await engine.tags.create(organization, names),
    many,
  }),
  delete: ({ engine }, organization, ids, writer) => engine.tags.delete(organization, ids, writer),
  apply: ({ engine }, id, workspaceIds, writer) => engine.tags.apply(id, workspaceIds, writer),
  ofWorkspace: ({ engine }, id, filter, page) => engine.tags.ofWorkspace(id, page, filter),
  add: ({ engine }, id, references, writer) => engine.tags.add(id, references, writer),
  remove: ({ engine }, id, references, writer) => engine.tags.remove(id, references, writer),
  bindings: ({ engine }, id, showing) => engine.tags.bindings(id, showing),
  bind: ({ engine }, id, bindings, writer) => engine.tags.bind(id, bindings, writer),
  addBindings: async ({ engine }, id, bindings, writer) => void (await engine.tags.bind(id, bindings, writer)),
  changeBindings: async ({ engine }, id, bindings, writer) => void (await engine.tags.bind(id, bindings, writer)),
  effectiveBindings: ({ engine }, id, showing) => engine.tags.effectiveBindings(id, showing),
  projectBindings: ({ engine }, id, showing) => engine.tags.projectBindings(id, showing),
  effectiveProjectBindings: async ({ engine }, id, showing) =>
    (await engine.tags.projectBindings(id, showing)).map((binding) => ({ ...binding, inheritedFrom: null })),
  bindProject: ({ engine }, id, bindings, writer) => engine.tags.bindProject(id, bindings, writer),
})

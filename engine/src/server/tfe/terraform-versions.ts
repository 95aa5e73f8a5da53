import { terraformVersions } from "../../contracts/tfe/terraform-version.ts"
import { implement } from "./implement.ts"

export const terraformVersionRoutes = implement(terraformVersions, {
  list: ({ engine }, filter, page) => engine.terraformVersions.list(filter, page),
  create: ({ engine }, input) => engine.terraformVersions.create(input),
  get: ({ engine }, id) => engine.terraformVersions.get(id),
  update: ({ engine }, id, patch) => engine.terraformVersions.update(id, patch),
  delete: ({ engine }, id) => engine.terraformVersions.delete(id),
})

import { apiDescription } from "../../contracts/tfe/api-description.ts"
import { tfeOpenApi } from "../../contracts/tfe/openapi.ts"
import { implement } from "./implement.ts"

/** Created at the first request, because it takes about 200 ms. */
let document: object | undefined

export const apiDescriptionRoutes = implement(apiDescription, { get: async () => (document ??= tfeOpenApi()) })

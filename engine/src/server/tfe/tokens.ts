import { tokens } from "../../contracts/tfe/token.ts"
import { implement } from "./implement.ts"

export const tokenRoutes = implement(tokens, {
  createForUser: ({ engine }, id, input) => engine.tokens.createForUser(id, input),
  listForUser: ({ engine }, id, page) => engine.tokens.listForUser(id, page),
  createForOrganization: ({ engine }, name, { kind }, input) => engine.tokens.createForOrganization(name, input, kind),
  getForOrganization: ({ engine }, name, { kind }) => engine.tokens.getForOrganization(name, kind),
  deleteForOrganization: ({ engine }, name, { kind }) => engine.tokens.deleteForOrganization(name, kind),
  listForTeams: ({ engine }, name, query, page) => engine.tokens.listForTeams(name, query, page),
  createForTeam: ({ engine }, id, input) => engine.tokens.createForTeam(id, input),
  getForTeam: ({ engine }, id) => engine.tokens.getForTeam(id),
  deleteForTeam: ({ engine }, id) => engine.tokens.deleteForTeam(id),
  addForTeam: ({ engine }, id, input) => engine.tokens.addForTeam(id, input),
  listForTeam: ({ engine }, id, page) => engine.tokens.listForTeam(id, page),
  createForAgentPool: ({ engine }, id, input) => engine.tokens.createForAgentPool(id, input),
  listForAgentPool: ({ engine }, id, page) => engine.tokens.listForAgentPool(id, page),
  get: ({ engine }, id) => engine.tokens.get(id),
  delete: ({ engine }, id) => engine.tokens.delete(id),
})

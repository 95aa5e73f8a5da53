import { vcsConnections } from "../../contracts/tfe/vcs-connection.ts"
import { implement } from "./implement.ts"

export const vcsConnectionRoutes = implement(vcsConnections, {
  createClient: ({ engine }, organization, input) => engine.vcsConnections.createClient(organization, input),
  listClients: ({ engine }, organization, page) => engine.vcsConnections.listClients(organization, page),
  getClient: ({ engine }, id) => engine.vcsConnections.getClient(id),
  updateClient: ({ engine }, id, patch) => engine.vcsConnections.updateClient(id, patch),
  deleteClient: ({ engine }, id) => engine.vcsConnections.deleteClient(id),
  addProjects: ({ engine }, id, projectIds) => engine.vcsConnections.addProjects(id, projectIds),
  removeProjects: ({ engine }, id, projectIds) => engine.vcsConnections.removeProjects(id, projectIds),
  listTokens: ({ engine }, organization, page) => engine.vcsConnections.listTokens(organization, page),
  getToken: ({ engine }, id) => engine.vcsConnections.getToken(id),
  updateToken: ({ engine }, id, patch) => engine.vcsConnections.updateToken(id, patch),
  deleteToken: ({ engine }, id) => engine.vcsConnections.deleteToken(id),
  createInstallation: ({ engine }, organization, input) =>
    engine.vcsConnections.createInstallation(organization, input),
  listInstallations: ({ engine }, organization, page) => engine.vcsConnections.listInstallations(organization, page),
  listAvailableInstallations: ({ engine }, query, page) =>
    engine.vcsConnections.listAvailableInstallations(query, page),
  getInstallation: ({ engine }, id) => engine.vcsConnections.getInstallation(id),
  getInstallationAsClients: ({ engine }, id) => engine.vcsConnections.getInstallation(id),
  deleteInstallation: ({ engine }, id) => engine.vcsConnections.deleteInstallation(id),
})

import { projects } from "../contracts/tfe/project.ts"
import type { Projects } from "../organizations/projects.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteProjects(transport: Transport): Projects {
  const { get, moveWorkspaces: _, ...same } = remote(projects, transport)
  return { ...same, get: async (id) => (await get(id, {})).data }
}

import { teamProjects, teamWorkspaces } from "../contracts/tfe/team-access.ts"
import type { TeamProjects } from "../organizations/team-project.ts"
import type { TeamWorkspaces } from "../workspaces/team-workspace.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteTeamWorkspaces(transport: Transport): TeamWorkspaces {
  const { list, ...same } = remote(teamWorkspaces, transport)
  return { ...same, list: (workspaceId, page) => list({ workspaceId }, page) }
}

export function remoteTeamProjects(transport: Transport): TeamProjects {
  const { list, ...same } = remote(teamProjects, transport)
  return { ...same, list: (projectId, page) => list({ projectId }, page) }
}

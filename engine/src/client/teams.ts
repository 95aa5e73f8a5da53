import { teamProjects, teamWorkspaces } from "../contracts/tfe/team-access.ts"
import { decodeMember, teams } from "../contracts/tfe/team.ts"
import type { TeamProjects } from "../organizations/team-project-access.ts"
import type { Teams } from "../organizations/team.ts"
import type { TeamWorkspaces } from "../workspaces/access/team-workspace-access.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteTeams(transport: Transport): Teams {
  const { get, addUsers, removeUsers, addOrganizationMemberships, removeOrganizationMemberships, ...same } = remote(
    teams,
    transport,
  )
  return {
    ...same,
    get: async (id) => (await get(id, {})).data,
    async members(id) {
      const { data, included } = await get(id, { include: ["users", "organization-memberships"] })
      return (data.organizationMembershipIds ?? []).map((membershipId) => decodeMember(membershipId, included))
    },
    addMembers: (id, members) =>
      "usernames" in members
        ? addUsers(id, members.usernames)
        : addOrganizationMemberships(id, members.organizationMembershipIds),
    removeMembers: (id, members) =>
      "usernames" in members
        ? removeUsers(id, members.usernames)
        : removeOrganizationMemberships(id, members.organizationMembershipIds),
  }
}

export function remoteTeamWorkspaces(transport: Transport): TeamWorkspaces {
  const { list, ...same } = remote(teamWorkspaces, transport)
  return { ...same, list: (workspaceId, page) => list({ workspaceId }, page) }
}

export function remoteTeamProjects(transport: Transport): TeamProjects {
  const { list, ...same } = remote(teamProjects, transport)
  return { ...same, list: (projectId, page) => list({ projectId }, page) }
}

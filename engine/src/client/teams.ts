import { decodeMember, teams } from "../contracts/tfe/team.ts"
import type { TeamMembers, Teams } from "../organizations/teams.ts"
import { remote } from "./remote-contract.ts"
import type { Transport } from "./transport.ts"

export function remoteTeams(transport: Transport): Teams {
  const api = remote(teams, transport)
  return {
    ...api,
    get: async (id) => (await api.get(id, {})).data,
    async members(id) {
      const { data, included } = await api.get(id, { include: ["users", "organization-memberships"] })
      return (data.organizationMembershipIds ?? []).map((membershipId) => decodeMember(membershipId, included))
    },
    addMembers: (id, members: TeamMembers) =>
      "usernames" in members
        ? api.addUsers(id, members.usernames)
        : api.addOrganizationMemberships(id, members.organizationMembershipIds),
    removeMembers: (id, members: TeamMembers) =>
      "usernames" in members
        ? api.removeUsers(id, members.usernames)
        : api.removeOrganizationMemberships(id, members.organizationMembershipIds),
  }
}

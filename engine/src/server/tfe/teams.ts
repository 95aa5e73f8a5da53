import { teamProjects, teamWorkspaces } from "../../contracts/tfe/team-access.ts"
import { encodeMember, teams } from "../../contracts/tfe/team.ts"
import { user as userDocument } from "../../contracts/tfe/user.ts"
import { implement } from "./implement.ts"

export const teamRoutes = implement(teams, {
  list: ({ engine }, organization, filter, page) => engine.teams.list(organization, filter, page),
  create: ({ engine }, organization, input) => engine.teams.create(organization, input),
  async get({ engine }, id, { include }) {
    const data = await engine.teams.get(id)
    if (include === undefined) return { data }
    const members = await engine.teams.members(data.id)
    const included = [
      ...(include.includes("users") ? members.map(({ user }) => userDocument.encode(user)) : []),
      ...(include.includes("organization-memberships") ? members.map((member) => encodeMember(data, member)) : []),
    ]
    return {
      data: {
        ...data,
        organizationMembershipIds: members.map(({ organizationMembershipId }) => organizationMembershipId),
      },
      included,
    }
  },
  update: ({ engine }, id, patch) => engine.teams.update(id, patch),
  delete: ({ engine }, id) => engine.teams.delete(id),
  addUsers: ({ engine }, id, usernames) => engine.teams.addMembers(id, { usernames }),
  removeUsers: ({ engine }, id, usernames) => engine.teams.removeMembers(id, { usernames }),
  addOrganizationMemberships: ({ engine }, id, organizationMembershipIds) =>
    engine.teams.addMembers(id, { organizationMembershipIds }),
  removeOrganizationMemberships: ({ engine }, id, organizationMembershipIds) =>
    engine.teams.removeMembers(id, { organizationMembershipIds }),
})

export const teamAccessRoutes = [
  ...implement(teamWorkspaces, {
    list: ({ engine }, { workspaceId }, page) => engine.teamWorkspaces.list(workspaceId, page),
    create: ({ engine }, input) => engine.teamWorkspaces.create(input),
    get: ({ engine }, id) => engine.teamWorkspaces.get(id),
    update: ({ engine }, id, patch) => engine.teamWorkspaces.update(id, patch),
    delete: ({ engine }, id) => engine.teamWorkspaces.delete(id),
  }),
  ...implement(teamProjects, {
    list: ({ engine }, { projectId }, page) => engine.teamProjects.list(projectId, page),
    create: ({ engine }, input) => engine.teamProjects.create(input),
    get: ({ engine }, id) => engine.teamProjects.get(id),
    update: ({ engine }, id, patch) => engine.teamProjects.update(id, patch),
    delete: ({ engine }, id) => engine.teamProjects.delete(id),
  }),
]

import { type Caller, type Membership, membershipIn, noOrganizationAccess } from "../core/caller.ts"
import { type Fault, notFound, rejectFaults } from "../core/errors.ts"
import { newId, type UserId } from "../core/ids.ts"
import { type Page, pageOf, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { authorizeOrganization } from "./authorization.ts"
import type { IdentityRepository } from "./authentication.ts"
import type { OrganizationMembershipRepository } from "./organization-membership.ts"
import { type OrganizationRepository, permissionsOf } from "./organization.ts"
import {
  changeTeam,
  createTeam,
  isOwners,
  rejectDeletingOwners,
  rejectLosingLastOwner,
  seesEveryTeam,
  seesTeam,
  type Team,
  type TeamFilter,
  type TeamInput,
  type TeamMember,
  type TeamMembers,
  type TeamPatch,
  teamPermissions,
  type TeamRepository,
  type Teams,
  type TeamView,
} from "./team.ts"
import type { User, UserRepository } from "./user.ts"
import { seesEmail, shownToOthers } from "./user-service.ts"

interface UsedRepositories {
  readonly identity: IdentityRepository
  readonly memberships: OrganizationMembershipRepository
  readonly organizations: OrganizationRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
}

export class TeamService implements Teams {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  create(organizationName: string, input: TeamInput): Promise<TeamView> {
    const { clock, random } = this.#runtime
    const id = newId("team", random)
    const now = clock.now()
    return this.#storage.transact(async (repositories) => {
      const { organization, membership } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canCreateTeam",
      )
      const made = { id, organizationId: organization.id, now, access: noOrganizationAccess }
      const team = createTeam(input, membership, made)
      await repositories.teams.insert(team)
      await repositories.identity.bumpCacheVersion()
      return viewTeam(team, organization.name, membership, [])
    })
  }

  list(organizationName: string, filter: TeamFilter, page: PageRequest): Promise<Page<TeamView>> {
    return this.#storage.read(async (repositories) => {
      const { organization, membership } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const visibility = seesEveryTeam(membership) ? {} : { visibleAnd: membership.teams }
      const found = await repositories.teams.list({ organizationId: organization.id, ...filter, ...visibility }, page)
      const members = await repositories.teams.membersOf(found.items.map(({ id }) => id))
      const views = found.items.map((team) => viewTeam(team, organization.name, membership, members.get(team.id) ?? []))
      return pageOf(views, page, found.totalCount)
    })
  }

  get(id: string): Promise<TeamView> {
    return this.#storage.read(async (repositories) => {
      const { team, membership } = await authorizeTeam(repositories, this.#caller, id)
      return viewOf(repositories, team, membership)
    })
  }

  members(id: string): Promise<readonly TeamMember[]> {
    return this.#storage.read(async (repositories) => {
      const { team, membership } = await authorizeTeam(repositories, this.#caller, id)
      const userIds = (await repositories.teams.membersOf([team.id])).get(team.id) ?? []
      const users = new Map((await repositories.users.findMany(userIds)).map((user) => [user.id, user]))
      const memberships = await repositories.memberships.ofUsers(team.organizationId, userIds)
      return memberships
        .flatMap(({ id: organizationMembershipId, userId }): TeamMember[] => {
          const user = users.get(userId)
          if (user === undefined) return []
          const email = seesEmail(this.#caller, membership, user) ? user.email : null
          return [{ organizationMembershipId, user: { ...shownToOthers(user), email } }]
        })
        .toSorted((one, other) => (one.user.username < other.user.username ? -1 : 1))
    })
  }

  update(id: string, patch: TeamPatch): Promise<TeamView> {
    return this.#storage.transact(async (repositories) => {
      const { team, membership } = await authorizeTeam(repositories, this.#caller, id)
      const may = teamPermissions(membership, team)
      if (!may.canUpdateName && !may.canUpdateVisibility && !may.canUpdateOrganizationAccess) throw notFound(id)
      const after = changeTeam(team, patch, membership)
      await repositories.teams.save(after)
      await repositories.identity.bumpCacheVersion()
      return viewOf(repositories, after, membership)
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { team, membership } = await authorizeTeam(repositories, this.#caller, id)
      if (isOwners(team) && membership.owner) rejectDeletingOwners(team)
      if (!teamPermissions(membership, team).canDestroy) throw notFound(id)
      await repositories.teams.remove(team.id)
      await repositories.identity.bumpCacheVersion()
    })
  }

  addMembers(id: string, members: TeamMembers): Promise<void> {
    const { clock, random } = this.#runtime
    const now = clock.now()
    return this.#storage.transact(async (repositories) => {
      const { team, membership } = await authorizeTeam(repositories, this.#caller, id, "canUpdateMembership")
      const { organizationId } = team
      const named = await this.#named(repositories, team, members)
      const userIds = named.map(({ user }) => user.id)
      const known = new Set(
        (await repositories.memberships.ofUsers(organizationId, userIds)).map(({ userId }) => userId),
      )
      const strangers = named.filter(({ user }) => !known.has(user.id))
      if (!permissionsOf(membership).canManageUsers)
        rejectFaults(strangers.map(({ user, index }) => unknown(index, user.username)))
      for (const { user } of strangers)
        await repositories.memberships.insert({
          id: newId("ou", random),
          organizationId,
          userId: user.id,
          status: "active",
          createdAt: now,
        })
      await repositories.teams.addMembers(team.id, userIds)
      await repositories.identity.bumpCacheVersion()
    })
  }

  removeMembers(id: string, members: TeamMembers): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { team } = await authorizeTeam(repositories, this.#caller, id, "canUpdateMembership")
      const leaving = (await this.#named(repositories, team, members)).map(({ user }) => user.id)
      if (isOwners(team))
        rejectLosingLastOwner((await repositories.teams.membersOf([team.id])).get(team.id) ?? [], leaving)
      await repositories.teams.removeMembers(team.id, leaving)
      await repositories.identity.bumpCacheVersion()
    })
  }

  /** Resolves the members in the given order, without duplicates. Each unknown name is a fault. */
  async #named(repositories: UsedRepositories, team: Team, members: TeamMembers): Promise<readonly NamedUser[]> {
    const faults: Fault[] = []
    const users = new Map<UserId, NamedUser>()
    const take = (user: User | undefined, index: number, name: string) => {
      if (user === undefined) faults.push(unknown(index, name))
      else users.set(user.id, { user, index })
    }
    if ("usernames" in members) {
      for (const [index, name] of members.usernames.entries())
        take(await repositories.users.findByUsername(name), index, name)
    } else {
      const ids = members.organizationMembershipIds
      const found = new Map(
        (await repositories.memberships.findMany(ids)).map((membership) => [membership.id, membership]),
      )
      const known = await repositories.users.findMany([...found.values()].map(({ userId }) => userId))
      for (const [index, id] of ids.entries()) {
        const membership = found.get(id)
        const belongs = membership?.organizationId === team.organizationId
        take(belongs ? known.find((user) => user.id === membership.userId) : undefined, index, id)
      }
    }
    rejectFaults(faults)
    return [...users.values()]
  }
}

interface NamedUser {
  readonly user: User
  /** Index of the user in the document. */
  readonly index: number
}

const unknown = (index: number, name: string): Fault => ({
  field: ["data", index, "id"],
  detail: `${name} is not a member of the organization`,
})

/** Throws `not-found` unless the caller can see the team and has every needed permission. */
export async function authorizeTeam(
  { teams }: Pick<UsedRepositories, "teams">,
  caller: Caller,
  id: string,
  ...needed: readonly (keyof TeamView["permissions"])[]
): Promise<{ readonly team: Team; readonly membership: Membership }> {
  const team = await teams.find(id)
  if (team === undefined) throw notFound(id)
  const membership = membershipIn(caller, team.organizationId)
  if (membership === undefined || !seesTeam(membership, team)) throw notFound(id)
  const permissions = teamPermissions(membership, team)
  if (needed.some((name) => !permissions[name])) throw notFound(id)
  return { team, membership }
}

async function viewOf(repositories: UsedRepositories, team: Team, membership: Membership): Promise<TeamView> {
  const organization = await repositories.organizations.find(team.organizationId)
  if (organization === undefined) throw notFound(team.id)
  const userIds = (await repositories.teams.membersOf([team.id])).get(team.id) ?? []
  return viewTeam(team, organization.name, membership, userIds)
}

export const viewTeam = (
  team: Team,
  organizationName: string,
  membership: Membership,
  userIds: readonly UserId[],
): TeamView => ({
  id: team.id,
  name: team.name,
  visibility: team.visibility,
  access: team.access,
  ssoTeamId: team.ssoTeamId,
  allowMemberTokenManagement: team.allowMemberTokenManagement,
  organizationName,
  permissions: teamPermissions(membership, team),
  userIds,
})

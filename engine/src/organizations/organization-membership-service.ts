import { type Caller, type Membership, membershipIn } from "../core/caller.ts"
import { type Fault, invalid, notFound, rejectFaults } from "../core/errors.ts"
import { newId, type OrganizationId } from "../core/ids.ts"
import { type Page, pageOf, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { authorizeOrganization } from "./authorization.ts"
import { type IdentityRepository, ownersTeamName } from "./authentication.ts"
import type {
  OrganizationMembership,
  OrganizationMembershipFilter,
  OrganizationMembershipInput,
  OrganizationMembershipRepository,
  OrganizationMemberships,
  OrganizationMembershipStatus,
  OrganizationMembershipView,
} from "./organization-membership.ts"
import { type OrganizationRepository, permissionsOf } from "./organization.ts"
import { rejectLosingLastOwner, seesTeam, type Team, teamPermissions, type TeamRepository } from "./team.ts"
import { createUser, type User, type UserRepository } from "./user.ts"
import { seesEmail, shownToOthers } from "./user-service.ts"

interface UsedRepositories {
  readonly identity: IdentityRepository
  readonly memberships: OrganizationMembershipRepository
  readonly organizations: OrganizationRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
}

export class OrganizationMembershipService implements OrganizationMemberships {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  create(organizationName: string, input: OrganizationMembershipInput): Promise<OrganizationMembershipView> {
    const { clock, random } = this.#runtime
    const now = clock.now()
    const id = newId("ou", random)
    const userId = newId("user", random)
    return this.#storage.transact(async (repositories) => {
      const { organization, membership } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canManageUsers",
      )
      const teams = await teamsToJoin(repositories, organization.id, membership, input.teamIds ?? [])
      const user =
        (await existingUser(repositories, input)) ?? (await newUser(repositories, input, { id: userId, now }))
      const created: OrganizationMembership = {
        id,
        organizationId: organization.id,
        userId: user.id,
        status: "active",
        createdAt: now,
      }
      const members = await repositories.memberships.ofUsers(organization.id, [user.id])
      if (members.length > 0)
        throw invalid([{ field: [fieldOf(input)], detail: "User is already a member of the organization" }])
      await repositories.memberships.insert(created)
      for (const team of teams) await repositories.teams.addMembers(team.id, [user.id])
      await repositories.identity.bumpCacheVersion()
      return {
        id,
        status: statusOf(user),
        createdAt: created.createdAt,
        organizationName: organization.name,
        user: { ...shownToOthers(user), email: user.email },
        teamIds: teams.map((team) => team.id),
      }
    })
  }

  list(
    organizationName: string,
    filter: OrganizationMembershipFilter,
    page: PageRequest,
  ): Promise<Page<OrganizationMembershipView>> {
    return this.#storage.read(async (repositories) => {
      const { organization, membership } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const found = await repositories.memberships.list({ organizationId: organization.id, ...filter }, page)
      const views = await this.#views(repositories, found.items, organization.name, membership)
      return pageOf(views, page, found.totalCount)
    })
  }

  get(id: string): Promise<OrganizationMembershipView> {
    return this.#storage.read(async (repositories) => {
      const { subject, organizationName, membership } = await this.#authorized(repositories, id)
      const [view] = await this.#views(repositories, [subject], organizationName, membership)
      if (view === undefined) throw notFound(id)
      return view
    })
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { subject, membership } = await this.#authorized(repositories, id)
      const { organizationId, userId } = subject
      const leaves = this.#caller.kind === "user" && this.#caller.userId === userId
      if (!leaves && !permissionsOf(membership).canManageUsers) throw notFound(id)
      const owners = await ownersOf(repositories, organizationId)
      // Only owners can remove an owner.
      if (owners.includes(userId) && !membership.owner) throw notFound(id)
      rejectLosingLastOwner(owners, [userId])
      await repositories.teams.leaveOrganization(organizationId, userId)
      await repositories.memberships.remove(id)
      await repositories.identity.bumpCacheVersion()
    })
  }

  async #authorized(repositories: UsedRepositories, id: string) {
    const subject = await repositories.memberships.find(id)
    if (subject === undefined) throw notFound(id)
    const membership = membershipIn(this.#caller, subject.organizationId)
    const organization = await repositories.organizations.find(subject.organizationId)
    if (membership === undefined || organization === undefined) throw notFound(id)
    return { subject, membership, organizationName: organization.name }
  }

  async #views(
    repositories: UsedRepositories,
    subjects: readonly OrganizationMembership[],
    organizationName: string,
    membership: Membership,
  ): Promise<OrganizationMembershipView[]> {
    const userIds = subjects.map(({ userId }) => userId)
    const users = new Map((await repositories.users.findMany(userIds)).map((user) => [user.id, user]))
    const organizationId = subjects[0]?.organizationId
    if (organizationId === undefined) return []
    const teamIds = await repositories.teams.teamsOf(organizationId, userIds)
    const teams = new Map(
      (await repositories.teams.findMany([...teamIds.values()].flat())).map((team) => [team.id, team]),
    )
    return subjects.flatMap(({ id, userId, createdAt }) => {
      const user = users.get(userId)
      if (user === undefined) return []
      const visible = (teamIds.get(user.id) ?? []).filter((teamId) => {
        const team = teams.get(teamId)
        return team !== undefined && seesTeam(membership, team)
      })
      const email = seesEmail(this.#caller, membership, user) ? user.email : null
      const status = statusOf(user)
      return [{ id, status, createdAt, organizationName, user: { ...shownToOthers(user), email }, teamIds: visible }]
    })
  }
}

export async function ownersOf({ teams }: Pick<UsedRepositories, "teams">, organizationId: OrganizationId) {
  const team = await teams.findByName(organizationId, ownersTeamName)
  return (team && (await teams.membersOf([team.id])).get(team.id)) ?? []
}

const statusOf = ({ invited }: User): OrganizationMembershipStatus => (invited ? "invited" : "active")

const fieldOf = (input: OrganizationMembershipInput) => (input.username === undefined ? "email" : "username")

async function existingUser(
  { users }: UsedRepositories,
  input: OrganizationMembershipInput,
): Promise<User | undefined> {
  if (input.username !== undefined) return users.findByUsername(input.username)
  return input.email === undefined ? undefined : users.findByEmail(input.email)
}

/** Creates a user. A username derived from an email gets a numeric suffix if it is taken. */
async function newUser(
  { users }: UsedRepositories,
  input: OrganizationMembershipInput,
  made: { readonly id: User["id"]; readonly now: number },
): Promise<User> {
  const { email, username } = input
  const user = createUser(
    { ...(username === undefined ? {} : { username }), ...(email === undefined ? {} : { email }) },
    made,
  )
  const free = username === undefined ? await freeName(users, user.username, made.id) : user.username
  const named = { ...user, username: free, invited: username === undefined }
  await users.insert(named)
  return named
}

const maxNumberedNames = 20

async function freeName(users: UsedRepositories["users"], name: string, id: string): Promise<string> {
  for (let number = 1; number <= maxNumberedNames; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if ((await users.findByUsername(candidate)) === undefined) return candidate
  }
  return id
}

async function teamsToJoin(
  { teams }: UsedRepositories,
  organizationId: OrganizationId,
  membership: Membership,
  ids: readonly string[],
): Promise<readonly Team[]> {
  const faults: Fault[] = []
  const joined: Team[] = []
  for (const [index, id] of ids.entries()) {
    const team = await teams.find(id)
    const usable =
      team !== undefined &&
      team.organizationId === organizationId &&
      seesTeam(membership, team) &&
      teamPermissions(membership, team).canUpdateMembership
    if (usable) joined.push(team)
    else faults.push({ field: ["teamIds", index, "id"], detail: `Team ${id} does not exist in this organization` })
  }
  rejectFaults(faults)
  return joined
}

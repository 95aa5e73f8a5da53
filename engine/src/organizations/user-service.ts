import { type Caller, type Membership, membershipIn } from "../core/caller.ts"
import { notFound, unprocessable } from "../core/errors.ts"
import { newId, type OrganizationId, type UserId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { repeatableRead, type Storage } from "../core/storage.ts"
import { requireSiteAdmin } from "./authorization.ts"
import type { IdentityRepository } from "./authentication.ts"
import { organizationsOf } from "./organization-service.ts"
import type { Organization, OrganizationRepository } from "./organization.ts"
import { managesPeople, seesTeam, type Team, type TeamRepository } from "./team.ts"
import {
  type AccountPatch,
  changeAccount,
  createUser,
  isRoot,
  shownUsername,
  type User,
  type UserInput,
  type UserRepository,
  type Users,
  type UserView,
} from "./user.ts"

interface UsedRepositories {
  readonly identity: IdentityRepository
  readonly organizations: OrganizationRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
}

export class UserService implements Users {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  get(id: string): Promise<UserView> {
    const caller = this.#caller
    return this.#storage.read(async (repositories) => {
      const { users } = repositories
      const user = await users.find(id as UserId)
      if (user === undefined) return serviceAccountSeenBy(repositories, caller, id)
      if (caller.kind === "user" && (caller.siteAdmin || caller.userId === id)) return shown(user)
      const shared = organizationsOf(caller)
      if (shared !== "all" && !(await users.shareOrganization(user.id, shared))) throw notFound(id)
      return shownToOthers(user)
    })
  }

  account(): Promise<UserView> {
    const caller = this.#caller
    return this.#storage.read(async (repositories) => {
      if (caller.kind === "user") return shown(await existing(repositories, caller.userId))
      if (caller.kind === "agent" || caller.kind === "service" || caller.kind === "anonymous") throw notFound()
      const organization = await repositories.organizations.find(caller.organizationId)
      if (organization === undefined) throw notFound()
      if (caller.kind === "organization") return accountOfOrganization(organization)
      const team = await repositories.teams.find(caller.teamId)
      if (team === undefined) throw notFound()
      return accountOfTeam(organization, team)
    })
  }

  updateAccount(patch: AccountPatch): Promise<UserView> {
    const caller = this.#caller
    // Repeatable read suffices: one row is written, whose username and email are unique by constraint.
    return this.#storage.transact(async (repositories) => {
      if (caller.kind !== "user") throw notFound()
      const before = await existing(repositories, caller.userId)
      const after = changeAccount(before, patch)
      await repositories.users.save(after)
      // Callers contain the username, for events and the audit log.
      if (after.username !== before.username) await repositories.identity.bumpCacheVersion()
      return shown(after)
    }, repeatableRead)
  }

  async create(input: UserInput): Promise<UserView> {
    requireSiteAdmin(this.#caller)
    const user = createUser(input, { id: newId("user", this.#runtime.random), now: this.#runtime.clock.now() })
    // Repeatable read suffices: username, email and the name in templates of roles are unique by constraint.
    await this.#storage.transact(({ users }) => users.insert(user), repeatableRead)
    return shown(user)
  }

  async getAsAdministrator(id: string): Promise<UserView> {
    requireSiteAdmin(this.#caller)
    return this.#storage.read(async (repositories) => shown(await existing(repositories, id)))
  }

  async list(search: string | undefined, page: PageRequest): Promise<Page<UserView>> {
    requireSiteAdmin(this.#caller)
    return this.#storage.read(async ({ users }) => mapPage(await users.list(search, page), shown))
  }

  async findByUsername(username: string): Promise<UserView | undefined> {
    requireSiteAdmin(this.#caller)
    return this.#storage.read(async ({ users }) => {
      const user = await users.findByUsername(username)
      return user && shown(user)
    })
  }

  async setSiteAdmin(id: string, siteAdmin: boolean): Promise<UserView> {
    requireSiteAdmin(this.#caller)
    return this.#storage.transact(async (repositories) => {
      const user = await existing(repositories, id)
      if (isRoot(user) && !siteAdmin) throw unprocessable("The user root is always a site administrator")
      const after = { ...user, siteAdmin }
      await repositories.users.save(after)
      await repositories.identity.bumpCacheVersion()
      return shown(after)
    })
  }

  async delete(id: string): Promise<void> {
    requireSiteAdmin(this.#caller)
    return this.#storage.transact(async (repositories) => {
      const user = await existing(repositories, id)
      if (isRoot(user)) throw unprocessable("The user root cannot be deleted")
      const owned = await repositories.teams.organizationsOwnedOnlyBy(user.id)
      if (owned.length > 0)
        throw unprocessable(`The user is the last owner of ${owned.join(", ")} and cannot be deleted`)
      await repositories.users.remove(user.id)
      await repositories.identity.bumpCacheVersion()
    })
  }
}

async function existing({ users }: Pick<UsedRepositories, "users">, id: string): Promise<User> {
  const user = await users.find(id as UserId)
  if (user === undefined) throw notFound(id)
  return user
}

const shown = ({ id, serviceAccount, email, siteAdmin, ...user }: User): UserView => ({
  id,
  username: shownUsername(user),
  serviceAccount,
  email,
  siteAdmin,
})

/** Hides the email, which only the user and site administrators can read. */
export const shownToOthers = (user: User): UserView => ({ ...shown(user), email: null, siteAdmin: null })

/** Returns whether the caller can read the email: the user itself can, and callers that manage members of the organization. */
export const seesEmail = (caller: Caller, membership: Membership, user: User): boolean =>
  managesPeople(membership) || (caller.kind === "user" && caller.userId === user.id)

/** Returns the account of a team or an organization, which has the same id. Throws `not-found` unless the caller sees the team. */
async function serviceAccountSeenBy(
  { organizations, teams }: Pick<UsedRepositories, "organizations" | "teams">,
  caller: Caller,
  id: string,
): Promise<UserView> {
  const team = await teams.find(id)
  const organization = await organizations.find(team?.organizationId ?? (id as OrganizationId))
  const membership = organization && membershipIn(caller, organization.id)
  if (organization === undefined || membership === undefined) throw notFound(id)
  if (team !== undefined && !seesTeam(membership, team)) throw notFound(id)
  const account = team === undefined ? accountOfOrganization(organization) : accountOfTeam(organization, team)
  return { ...account, email: null, siteAdmin: null }
}

const accountOfOrganization = ({ id, name }: Pick<Organization, "id" | "name">): UserView => serviceAccount(id, name)

const accountOfTeam = ({ name }: Pick<Organization, "name">, team: Pick<Team, "id" | "name">): UserView =>
  serviceAccount(team.id, `${name}-${team.name}`)

const serviceAccount = (id: string, name: string): UserView => ({
  id: id as UserId,
  username: `api-${name}`,
  serviceAccount: true,
  email: "",
  siteAdmin: false,
})

import { type Caller, membershipIn } from "../core/caller.ts"
import { invalid, notFound } from "../core/errors.ts"
import { newId, type UserId } from "../core/ids.ts"
import { type Page, pageOf, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { authorizeOrganization } from "./authorization.ts"
import type { IdentityRepository } from "./authentication.ts"
import { type OrganizationRepository, permissionsIn, permissionsOf } from "./organization.ts"
import { authorizeTeam } from "./team-service.ts"
import type { TeamRepository } from "./team.ts"
import {
  type CreatedToken,
  createToken,
  newSecret,
  type OrganizationTokenKind,
  type TeamTokenQuery,
  type Token,
  type TokenInput,
  type TokenOwner,
  type TokenRepository,
  type Tokens,
  type TokenView,
} from "./token.ts"
import type { UserRepository } from "./user.ts"

interface UsedRepositories {
  readonly identity: IdentityRepository
  readonly organizations: OrganizationRepository
  readonly teams: TeamRepository
  readonly tokens: TokenRepository
  readonly users: UserRepository
}

export class TokenService implements Tokens {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  createForUser(userId: string, input: TokenInput): Promise<CreatedToken> {
    return this.#create(input, "beside-others", (repositories) => this.#invitee(repositories, userId))
  }

  listForUser(userId: string, page: PageRequest): Promise<Page<TokenView>> {
    return this.#list(page, (repositories) => this.#user(repositories, userId))
  }

  createForOrganization(
    organization: string,
    { expiresAt = null }: TokenInput,
    kind?: OrganizationTokenKind,
  ): Promise<CreatedToken> {
    return this.#create({ expiresAt }, "instead", (repositories) =>
      this.#organization(repositories, organization, kind),
    )
  }

  getForOrganization(organization: string, kind?: OrganizationTokenKind): Promise<TokenView> {
    return this.#storage.read(async (repositories) =>
      shown(repositories, await single(repositories, await this.#organization(repositories, organization, kind))),
    )
  }

  deleteForOrganization(organization: string, kind?: OrganizationTokenKind): Promise<void> {
    return this.#storage.transact(async (repositories) =>
      revoke(repositories, await single(repositories, await this.#organization(repositories, organization, kind))),
    )
  }

  async createForTeam(teamId: string, { expiresAt = null, description = "" }: TokenInput): Promise<CreatedToken> {
    rejectDescription(description)
    return this.#create({ expiresAt }, "instead", (repositories) => this.#team(repositories, teamId))
  }

  getForTeam(teamId: string): Promise<TokenView> {
    return this.#storage.read(async (repositories) =>
      shown(repositories, await single(repositories, await this.#team(repositories, teamId))),
    )
  }

  deleteForTeam(teamId: string): Promise<void> {
    return this.#storage.transact(async (repositories) =>
      revoke(repositories, await single(repositories, await this.#team(repositories, teamId))),
    )
  }

  addForTeam(teamId: string, input: TokenInput): Promise<CreatedToken> {
    return this.#create(input, "distinct", (repositories) => this.#team(repositories, teamId))
  }

  listForTeam(teamId: string, page: PageRequest): Promise<Page<TokenView>> {
    return this.#list(page, (repositories) => this.#team(repositories, teamId))
  }

  listForTeams(organizationName: string, query: TeamTokenQuery, page: PageRequest): Promise<Page<TokenView>> {
    return this.#storage.read(async (repositories) => {
      const { organization, membership } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const { owner, access } = membership
      if (!owner && !access.manageTeams) throw notFound(organizationName)
      const scope = { ...query, organizationId: organization.id, withOwners: owner }
      const found = await repositories.tokens.listOfTeams(scope, page)
      return pageOf(await Promise.all(found.items.map((token) => shown(repositories, token))), page, found.totalCount)
    })
  }

  createForAgentPool(agentPoolId: string, input: TokenInput): Promise<CreatedToken> {
    return this.#create(input, "distinct", (repositories) => this.#agentPool(repositories, agentPoolId))
  }

  listForAgentPool(agentPoolId: string, page: PageRequest): Promise<Page<TokenView>> {
    return this.#list(page, (repositories) => this.#agentPool(repositories, agentPoolId))
  }

  get(id: string): Promise<TokenView> {
    return this.#storage.read(async (repositories) => shown(repositories, await this.#authorized(repositories, id)))
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) =>
      revoke(repositories, await this.#authorized(repositories, id)),
    )
  }

  /**
   * Creates a token. `instead` replaces the owner's token without a description. `distinct` needs a description that no other token of the
   * owner has.
   */
  async #create(
    input: TokenInput,
    manner: "beside-others" | "instead" | "distinct",
    authorize: (repositories: UsedRepositories) => Promise<TokenOwner>,
  ): Promise<CreatedToken> {
    const { clock, random, digest } = this.#runtime
    const caller = this.#caller
    const id = newId("at", random)
    const secret = newSecret(random)
    const hash = digest(secret)
    const now = clock.now()
    const createdBy = caller.kind === "user" ? caller.userId : null
    const token = await this.#storage.transact(async (repositories) => {
      const owner = await authorize(repositories)
      const made = createToken(input, { id, owner, createdBy, now })
      if (manner === "instead")
        for (const before of await repositories.tokens.described(owner, "")) await revoke(repositories, before)
      if (manner === "distinct") await rejectTakenDescription(repositories, made)
      await repositories.tokens.insert(made, hash)
      return shown(repositories, made)
    })
    return { ...token, secret }
  }

  #list(
    page: PageRequest,
    authorize: (repositories: UsedRepositories) => Promise<TokenOwner>,
  ): Promise<Page<TokenView>> {
    return this.#storage.read(async (repositories) => {
      const found = await repositories.tokens.list(await authorize(repositories), page)
      return pageOf(await Promise.all(found.items.map((token) => shown(repositories, token))), page, found.totalCount)
    })
  }

  /** Throws `not-found` unless the caller is the user or a site administrator, who creates the first token. */
  async #user({ users }: UsedRepositories, userId: string): Promise<TokenOwner> {
    const caller = this.#caller
    if (caller.kind !== "user" || !(caller.siteAdmin || caller.userId === userId)) throw notFound(userId)
    const user = await users.find(userId as UserId)
    if (user === undefined) throw notFound(userId)
    return { kind: "user", userId: user.id }
  }

  /** Checks the caller as `#user` does. An invited user becomes active with the first token. */
  async #invitee(repositories: UsedRepositories, userId: string): Promise<TokenOwner> {
    const owner = await this.#user(repositories, userId)
    const user = await repositories.users.find(userId as UserId)
    if (user?.invited === true) await repositories.users.save({ ...user, invited: false })
    return owner
  }

  async #organization(
    repositories: UsedRepositories,
    name: string,
    kind: OrganizationTokenKind = "organization",
  ): Promise<TokenOwner> {
    const { organization } = await authorizeOrganization(repositories, this.#caller, name, "canUpdateApiToken")
    return { kind, organizationId: organization.id }
  }

  async #team(repositories: UsedRepositories, teamId: string): Promise<TokenOwner> {
    const { team } = await authorizeTeam(repositories, this.#caller, teamId, "canUpdateApiToken")
    return { kind: "team", teamId: team.id }
  }

  async #agentPool({ identity }: UsedRepositories, agentPoolId: string): Promise<TokenOwner> {
    const organizationId = await identity.organizationOfAgentPool(agentPoolId)
    const permissions = organizationId && permissionsIn(this.#caller, organizationId)
    if (!permissions?.canUpdateAgentPools) throw notFound(agentPoolId)
    return { kind: "agent-pool", agentPoolId }
  }

  async #authorized(repositories: UsedRepositories, id: string): Promise<Token> {
    const token = await repositories.tokens.find(id)
    if (token === undefined) throw notFound(id)
    const { owner } = token
    switch (owner.kind) {
      case "user":
        await this.#user(repositories, owner.userId)
        return token
      case "team":
        await this.#team(repositories, owner.teamId)
        return token
      case "organization":
      case "audit-trails": {
        const membership = membershipIn(this.#caller, owner.organizationId)
        if (membership === undefined || !permissionsOf(membership).canUpdateApiToken) throw notFound(id)
        return token
      }
      case "agent-pool":
        await this.#agentPool(repositories, owner.agentPoolId)
        return token
      default:
        return owner satisfies never
    }
  }
}

/** Throws `invalid` if there is a description. A team has one token without one; tokens with one are created by another endpoint. */
function rejectDescription(description: string): void {
  if (description !== "")
    throw invalid([
      {
        field: ["description"],
        detail:
          "description must be empty at this endpoint; create tokens with a description at POST /teams/:team_id/authentication-tokens",
      },
    ])
}

async function single({ tokens }: UsedRepositories, owner: TokenOwner): Promise<Token> {
  const [token] = await tokens.described(owner, "")
  if (token === undefined) throw notFound()
  return token
}

async function shown({ organizations }: UsedRepositories, { owner, ...token }: Token): Promise<TokenView> {
  if (!("organizationId" in owner)) return { ...token, owner }
  const organization = await organizations.find(owner.organizationId)
  return { ...token, owner: { kind: owner.kind, organizationName: organization?.name ?? "" } }
}

async function revoke({ tokens, identity }: UsedRepositories, token: Token): Promise<void> {
  await tokens.remove(token.id)
  await identity.bumpCacheVersion()
}

async function rejectTakenDescription({ tokens }: UsedRepositories, token: Token): Promise<void> {
  const field = ["description"]
  if (token.description === "") throw invalid([{ field, detail: "Description can't be blank" }])
  const same = await tokens.described(token.owner, token.description)
  if (same.length > 0) throw invalid([{ field, detail: "Description has already been taken" }])
}

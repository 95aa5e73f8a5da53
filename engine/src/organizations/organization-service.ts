import { type Caller, membershipIn, ownerMembership } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import { newId, type OrganizationId } from "../core/ids.ts"
import { mapPage, type Page, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import type { Storage } from "../core/storage.ts"
import { authorizeOrganization } from "./authorization.ts"
import type { IdentityRepository } from "./authentication.ts"
import type { OrganizationMembershipRepository } from "./organization-membership.ts"
import {
  changeOrganization,
  createOrganization,
  type Organization,
  type OrganizationInput,
  type OrganizationPatch,
  type OrganizationRepository,
  type Organizations,
  type OrganizationView,
  permissionsOf,
  viewOrganization,
} from "./organization.ts"
import { defaultProject, type ProjectRepository } from "./project.ts"
import { ownersTeam, type TeamRepository } from "./team.ts"

interface UsedRepositories {
  readonly identity: IdentityRepository
  readonly memberships: OrganizationMembershipRepository
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly teams: TeamRepository
}

export class OrganizationService implements Organizations {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  async create(input: OrganizationInput): Promise<OrganizationView> {
    const caller = this.#caller
    // The creator becomes the owner, and only a user can be one.
    if (caller.kind !== "user") throw notFound()
    const { clock, random } = this.#runtime
    const now = clock.now()
    const id = newId("org", random)
    const teamId = newId("team", random)
    const membershipId = newId("ou", random)
    const defaultProjectId = newId("prj", random)
    const organization = createOrganization(input, caller, { id, defaultProjectId, now })
    await this.#storage.transact(async ({ organizations, projects, teams, memberships, identity }) => {
      await organizations.insert(organization)
      await projects.insert(defaultProject(organization))
      await teams.insert(ownersTeam({ id: teamId, organizationId: id, now }))
      const { userId } = caller
      await memberships.insert({ id: membershipId, organizationId: id, userId, status: "active", createdAt: now })
      await teams.addMembers(teamId, [userId])
      await identity.bumpCacheVersion()
    })
    return viewOrganization(organization, permissionsOf(ownerMembership))
  }

  list(search: string | undefined, page: PageRequest): Promise<Page<OrganizationView>> {
    return this.#storage.read(async ({ organizations }) => {
      const found = await organizations.list(organizationsOf(this.#caller), search, page)
      return mapPage(found, (organization) => this.#view(organization))
    })
  }

  get(name: string): Promise<OrganizationView> {
    return this.#storage.read(async (repositories) => {
      const { organization, permissions } = await authorizeOrganization(repositories, this.#caller, name)
      return viewOrganization(organization, permissions)
    })
  }

  update(name: string, patch: OrganizationPatch): Promise<OrganizationView> {
    return this.#storage.transact(async (repositories) => {
      const { organizations } = repositories
      const { organization, permissions } = await authorizeOrganization(repositories, this.#caller, name, "canUpdate")
      const { defaultAgentPoolId } = patch
      const after = changeOrganization(organization, patch, {
        siteAdmin: this.#caller.kind === "user" && this.#caller.siteAdmin,
        ownsAgentPool:
          typeof defaultAgentPoolId === "string" &&
          (await organizations.ownsAgentPool(organization.id, defaultAgentPoolId)),
        agentPoolAdmits:
          typeof defaultAgentPoolId !== "string" || (await organizations.admittedByAgentPool(defaultAgentPoolId)),
      })
      await organizations.save(after)
      return viewOrganization(after, permissions)
    })
  }

  delete(name: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(repositories, this.#caller, name, "canDestroy")
      await repositories.organizations.remove(organization.id)
      await repositories.identity.bumpCacheVersion()
    })
  }

  #view(organization: Organization): OrganizationView {
    const membership = membershipIn(this.#caller, organization.id)
    if (membership === undefined) throw notFound(organization.name)
    return viewOrganization(organization, permissionsOf(membership, this.#caller.kind === "organization"))
  }
}

export function organizationsOf(caller: Caller): readonly OrganizationId[] | "all" {
  switch (caller.kind) {
    case "user":
      return caller.siteAdmin ? "all" : [...caller.memberships.keys()]
    case "team":
    case "organization":
      return [caller.organizationId]
    case "agent":
    case "service":
    case "anonymous":
      return []
    default:
      return caller satisfies never
  }
}

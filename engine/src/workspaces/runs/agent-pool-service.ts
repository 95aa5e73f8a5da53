import type { Caller } from "../../core/caller.ts"
import { notFound, rejectFaults } from "../../core/errors.ts"
import { newId, type OrganizationId, type ProjectId, type WorkspaceId } from "../../core/ids.ts"
import { type Page, pageOf, type PageRequest } from "../../core/page.ts"
import type { Runtime } from "../../core/runtime.ts"
import { repeatableRead, type Storage } from "../../core/storage.ts"
import {
  type AgentPool,
  agentPoolFaults,
  type AgentPoolFilter,
  type AgentPoolInput,
  type AgentPools,
  type AgentPoolScope,
  type AgentPoolView,
  rejectUsedPool,
  scopeOf,
  unknownIdFaults,
} from "../../organizations/agent-pool.ts"
import { authorizeOrganization, permissionsOn } from "../../organizations/authorization.ts"
import type { IdentityRepository } from "../../organizations/authentication.ts"
import {
  type Organization,
  type OrganizationPermissionName,
  type OrganizationRepository,
  permissionsIn,
} from "../../organizations/organization.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import type { AgentPoolRepository } from "./agent-pool-repository.ts"
import { visibilityIn, withPermissions } from "../access/workspace-authorization.ts"
import { isVisible } from "../access/workspace-permissions.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"

interface UsedRepositories {
  readonly access: AccessRepository
  readonly agentPools: AgentPoolRepository
  readonly identity: IdentityRepository
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly workspaces: WorkspaceRepository
}

/** Members of the organization can see its pools, so that they can choose one. Managing pools needs a separate permission. */
export class AgentPoolService implements AgentPools {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  create(organizationName: string, input: AgentPoolInput): Promise<AgentPoolView> {
    const id = newId("apool", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (repositories) => {
      const { organization } = await authorizeOrganization(
        repositories,
        this.#caller,
        organizationName,
        "canUpdateAgentPools",
      )
      const { name } = input
      const scope = await this.#checkedScope(repositories, organization.id, noScope, input)
      const pool: AgentPool = {
        id,
        organizationId: organization.id,
        name,
        organizationScoped: scopeOf(true, input),
        createdAt,
      }
      await repositories.agentPools.insert(pool)
      await repositories.agentPools.saveScope(id, scope)
      return this.#view(repositories, pool, organization)
    })
  }

  list(organizationName: string, filter: AgentPoolFilter, page: PageRequest): Promise<Page<AgentPoolView>> {
    return this.#storage.read(async (repositories) => {
      const { organization } = await authorizeOrganization(repositories, this.#caller, organizationName)
      const found = await repositories.agentPools.list(organization.id, filter, page)
      return pageOf(await this.#views(repositories, found.items, organization), page, found.totalCount)
    })
  }

  get(id: string): Promise<AgentPoolView> {
    return this.#storage.read(async (repositories) => {
      const { pool, organization } = await this.#authorized(repositories, id, "canTraverse")
      return this.#view(repositories, pool, organization)
    })
  }

  update(id: string, patch: Partial<AgentPoolInput>): Promise<AgentPoolView> {
    // Repeatable read suffices: one row is written, whose name is unique by constraint. The workspaces of the pool are only returned.
    return this.#storage.transact(async (repositories) => {
      const { pool, organization } = await this.#authorized(repositories, id, "canUpdateAgentPools")
      const present = (await repositories.agentPools.scopesOf([id])).get(id) ?? noScope
      const scope = await this.#checkedScope(repositories, pool.organizationId, present, patch)
      const after = {
        ...pool,
        name: patch.name ?? pool.name,
        organizationScoped: scopeOf(pool.organizationScoped, patch),
      }
      await repositories.agentPools.save(after)
      await repositories.agentPools.saveScope(id, scope)
      return this.#view(repositories, after, organization)
    }, repeatableRead)
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (repositories) => {
      await this.#authorized(repositories, id, "canUpdateAgentPools")
      rejectUsedPool(id, await repositories.agentPools.usesOf(id))
      await repositories.agentPools.remove(id)
      // The tokens of its agents were deleted with it.
      await repositories.identity.bumpCacheVersion()
    })
  }

  /** Returns the lists of the input. Ids of the present lists that the caller cannot see are kept. */
  async #checkedScope(
    repositories: UsedRepositories,
    organizationId: OrganizationId,
    present: AgentPoolScope,
    input: Partial<AgentPoolInput>,
  ): Promise<Partial<AgentPoolScope>> {
    const { allowedWorkspaceIds, allowedProjectIds, excludedWorkspaceIds } = input
    const named: AgentPoolScope = {
      allowedWorkspaceIds: (allowedWorkspaceIds ?? []) as WorkspaceId[],
      allowedProjectIds: (allowedProjectIds ?? []) as ProjectId[],
      excludedWorkspaceIds: (excludedWorkspaceIds ?? []) as WorkspaceId[],
    }
    const seen = await seenOf(repositories, this.#caller, organizationId, [named, present])
    rejectFaults([
      ...agentPoolFaults(input),
      ...unknownIdFaults("allowedWorkspaceIds", "Workspace", allowedWorkspaceIds, seen),
      ...unknownIdFaults("allowedProjectIds", "Project", allowedProjectIds, seen),
      ...unknownIdFaults("excludedWorkspaceIds", "Workspace", excludedWorkspaceIds, seen),
    ])
    const replaced = <Id extends string>(ids: readonly Id[], before: readonly Id[]): Id[] => [
      ...new Set([...ids, ...before.filter((id) => !seen.has(id))]),
    ]
    return {
      ...(allowedWorkspaceIds && {
        allowedWorkspaceIds: replaced(named.allowedWorkspaceIds, present.allowedWorkspaceIds),
      }),
      ...(allowedProjectIds && { allowedProjectIds: replaced(named.allowedProjectIds, present.allowedProjectIds) }),
      ...(excludedWorkspaceIds && {
        excludedWorkspaceIds: replaced(named.excludedWorkspaceIds, present.excludedWorkspaceIds),
      }),
    }
  }

  async #authorized(
    repositories: UsedRepositories,
    id: string,
    permission: OrganizationPermissionName,
  ): Promise<{ readonly pool: AgentPool; readonly organization: Organization }> {
    const pool = await repositories.agentPools.find(id)
    if (pool === undefined || !permissionsIn(this.#caller, pool.organizationId)?.[permission]) throw notFound(id)
    const organization = await repositories.organizations.find(pool.organizationId)
    if (organization === undefined) throw notFound(id)
    return { pool, organization }
  }

  async #view(repositories: UsedRepositories, pool: AgentPool, organization: Organization): Promise<AgentPoolView> {
    const [view] = await this.#views(repositories, [pool], organization)
    return view as AgentPoolView
  }

  #views(repositories: UsedRepositories, pools: readonly AgentPool[], organization: Organization) {
    return viewAgentPools(repositories, this.#caller, pools, organization)
  }
}

/** Returns pools with those of their workspaces that the caller can see. */
export async function viewAgentPools(
  repositories: Pick<UsedRepositories, "access" | "agentPools" | "projects" | "workspaces">,
  caller: Caller,
  pools: readonly AgentPool[],
  organization: Organization,
): Promise<readonly AgentPoolView[]> {
  const { agentPools } = repositories
  const visibility = visibilityIn(caller, organization.id)
  const ids = pools.map(({ id }) => id)
  const workspaces = visibility && (await agentPools.workspacesOf(ids, visibility))
  const scopes = await agentPools.scopesOf(ids)
  const seen = await seenOf(repositories, caller, organization.id, [...scopes.values()])
  return pools.map(({ organizationId: _, ...pool }) => {
    const { allowedWorkspaceIds, allowedProjectIds, excludedWorkspaceIds } = scopes.get(pool.id) ?? noScope
    return {
      ...pool,
      allowedWorkspaceIds: allowedWorkspaceIds.filter((id) => seen.has(id)),
      allowedProjectIds: allowedProjectIds.filter((id) => seen.has(id)),
      excludedWorkspaceIds: excludedWorkspaceIds.filter((id) => seen.has(id)),
      organizationName: organization.name,
      workspaceIds: workspaces?.get(pool.id) ?? [],
    }
  })
}

const noScope: AgentPoolScope = { allowedWorkspaceIds: [], allowedProjectIds: [], excludedWorkspaceIds: [] }

/** Returns those of the ids that are workspaces and projects of the organization and that the caller can see. */
async function seenOf(
  repositories: Pick<UsedRepositories, "access" | "projects" | "workspaces">,
  caller: Caller,
  organizationId: OrganizationId,
  scopes: readonly AgentPoolScope[],
): Promise<ReadonlySet<string>> {
  const workspaceIds = new Set(scopes.flatMap((scope) => [...scope.allowedWorkspaceIds, ...scope.excludedWorkspaceIds]))
  const projectIds = new Set(scopes.flatMap((scope) => scope.allowedProjectIds))
  const found = workspaceIds.size === 0 ? [] : await repositories.workspaces.findMany([...workspaceIds])
  const workspaces = await withPermissions(
    repositories,
    caller,
    found.filter((workspace) => workspace.organizationId === organizationId),
  )
  const projects = (projectIds.size === 0 ? [] : await repositories.projects.findMany([...projectIds])).filter(
    (project) => project.organizationId === organizationId,
  )
  const permissions = await permissionsOn(repositories, caller, projects)
  return new Set<string>([
    ...workspaces.filter(({ permissions: own }) => isVisible(own)).map(({ workspace }) => workspace.id),
    ...projects.filter((_, index) => permissions[index]?.canRead).map(({ id }) => id),
  ])
}

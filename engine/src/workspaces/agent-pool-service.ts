import type { Caller } from "../core/caller.ts"
import { notFound, refuseFaults } from "../core/errors.ts"
import { newId } from "../core/ids.ts"
import { type Page, pageOf, type PageRequest } from "../core/page.ts"
import type { Runtime } from "../core/runtime.ts"
import { repeatableRead, type Storage } from "../core/storage.ts"
import {
  type AgentPool,
  agentPoolFaults,
  type AgentPoolInput,
  type AgentPools,
  type AgentPoolView,
  refuseUsedPool,
} from "../organizations/agent-pool.ts"
import { authorizeOrganization } from "../organizations/authorization.ts"
import type { Organization } from "../organizations/organization.ts"
import { type OrganizationPermissionName, permissionsIn } from "../organizations/organization-permissions.ts"
import type { Stores } from "../stores.ts"
import { visibilityIn } from "./authorization.ts"

type UsedStores = Pick<Stores, "agentPools" | "identity" | "organizations">

/** Members see the pools, so that they can choose one; managing them takes a right of its own. */
export class AgentPoolService implements AgentPools {
  readonly #storage: Storage<UsedStores>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedStores>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  create(organizationName: string, input: AgentPoolInput): Promise<AgentPoolView> {
    const id = newId("apool", this.#runtime.random)
    const createdAt = this.#runtime.clock.now()
    return this.#storage.transact(async (stores) => {
      const { organization } = await authorizeOrganization(
        stores,
        this.#caller,
        organizationName,
        "canUpdateAgentPools",
      )
      refuseFaults(agentPoolFaults(input))
      const pool: AgentPool = { id, organizationId: organization.id, name: input.name, createdAt }
      await stores.agentPools.insert(pool)
      return this.#view(stores, pool, organization)
    })
  }

  list(organizationName: string, search: string | undefined, page: PageRequest): Promise<Page<AgentPoolView>> {
    return this.#storage.read(async (stores) => {
      const { organization } = await authorizeOrganization(stores, this.#caller, organizationName)
      const found = await stores.agentPools.list(organization.id, search, page)
      return pageOf(await this.#views(stores, found.items, organization), page, found.totalCount)
    })
  }

  get(id: string): Promise<AgentPoolView> {
    return this.#storage.read(async (stores) => {
      const { pool, organization } = await this.#authorized(stores, id, "canTraverse")
      return this.#view(stores, pool, organization)
    })
  }

  update(id: string, patch: Partial<AgentPoolInput>): Promise<AgentPoolView> {
    // One row is written, whose name is unique by constraint; the workspaces of the pool are only shown.
    return this.#storage.transact(async (stores) => {
      const { pool, organization } = await this.#authorized(stores, id, "canUpdateAgentPools")
      refuseFaults(agentPoolFaults(patch))
      const after = { ...pool, name: patch.name ?? pool.name }
      await stores.agentPools.save(after)
      return this.#view(stores, after, organization)
    }, repeatableRead)
  }

  delete(id: string): Promise<void> {
    return this.#storage.transact(async (stores) => {
      await this.#authorized(stores, id, "canUpdateAgentPools")
      refuseUsedPool(id, await stores.agentPools.usesOf(id))
      await stores.agentPools.remove(id)
      // Its agents' tokens went with it.
      await stores.identity.bumpGeneration()
    })
  }

  async #authorized(
    stores: UsedStores,
    id: string,
    permission: OrganizationPermissionName,
  ): Promise<{ readonly pool: AgentPool; readonly organization: Organization }> {
    const pool = await stores.agentPools.find(id)
    if (pool === undefined || !permissionsIn(this.#caller, pool.organizationId)?.[permission]) throw notFound(id)
    const organization = await stores.organizations.find(pool.organizationId)
    if (organization === undefined) throw notFound(id)
    return { pool, organization }
  }

  async #view(stores: UsedStores, pool: AgentPool, organization: Organization): Promise<AgentPoolView> {
    const [view] = await this.#views(stores, [pool], organization)
    return view as AgentPoolView
  }

  #views(stores: UsedStores, pools: readonly AgentPool[], organization: Organization) {
    return viewAgentPools(stores, this.#caller, pools, organization)
  }
}

/** Each with those of its workspaces that the caller sees. */
export async function viewAgentPools(
  { agentPools }: Pick<Stores, "agentPools">,
  caller: Caller,
  pools: readonly AgentPool[],
  organization: Organization,
): Promise<readonly AgentPoolView[]> {
  const visibility = visibilityIn(caller, organization.id)
  const workspaces =
    visibility &&
    (await agentPools.workspacesOf(
      pools.map(({ id }) => id),
      visibility,
    ))
  return pools.map(({ id, name, createdAt }) => ({
    id,
    name,
    createdAt,
    organizationName: organization.name,
    workspaceIds: workspaces?.get(id) ?? [],
  }))
}

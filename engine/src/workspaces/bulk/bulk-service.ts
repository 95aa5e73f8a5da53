// Bulk actions. The workspaces are found once, and then processed in parts with one transaction each. With a key, the list is stored, and
// each transaction stores the results of its part. So every workspace is processed once, and repeated requests return the same results.
import type { Caller } from "../../core/caller.ts"
import { notFound, unprocessable } from "../../core/errors.ts"
import { newId, type OrganizationId, type WorkspaceId } from "../../core/ids.ts"
import { ownerOf } from "../../core/owner.ts"
import type { Runtime } from "../../core/runtime.ts"
import type { Storage } from "../../core/storage.ts"
import { dayMs } from "../../core/time.ts"
import { nextTurn } from "../../core/timers.ts"
import type { EventRepository } from "../../events/feed/event.ts"
import { authorizeOrganization, authorizeProject } from "../../organizations/authorization.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { VcsConnectionRepository } from "../../organizations/vcs-connection.ts"
import type { TagRepository } from "../tags/tag-repository.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { actorOf, visibilityIn } from "../access/workspace-authorization.ts"
import {
  type BulkActions,
  type BulkKey,
  type BulkRepository,
  type BulkRequest,
  type BulkResult,
  type BulkRun,
  maxBulkWorkspaces,
  rejectBulkRequest,
} from "./bulk-action.ts"
import { doPart } from "./bulk-operations.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import type { WorkspaceRepository } from "../workspace/workspace-repository.ts"

interface UsedRepositories {
  readonly bulkActions: BulkRepository
  readonly events: EventRepository
  readonly organizations: OrganizationRepository
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly projects: ProjectRepository
  readonly tags: TagRepository
  readonly stateVersions: StateVersionRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
  readonly vcsConnections: VcsConnectionRepository
}

/**
 * Limit of workspaces per transaction: small enough that other writers do not wait long, large enough that the cost of a transaction does
 * not matter.
 */
export const workspacesPerPart = 1000
const partsAtOnce = 2
/** Lifetime of an idempotency key. */
export const bulkRetentionMs = dayMs

interface StartedRun {
  readonly id: string
  readonly totalCount: number
  readonly partCount: number
  /** Undefined if the ids are stored with the action. */
  readonly ids?: readonly WorkspaceId[]
}

export class BulkActionService implements BulkActions {
  readonly #storage: Storage<UsedRepositories>
  readonly #runtime: Runtime
  readonly #caller: Caller

  constructor(storage: Storage<UsedRepositories>, runtime: Runtime, caller: Caller) {
    this.#storage = storage
    this.#runtime = runtime
    this.#caller = caller
  }

  async run(organizationName: string, request: BulkRequest): Promise<BulkRun> {
    rejectBulkRequest(request)
    const owner = ownerOf(request)
    const { idempotencyKey: key, dryRun = false } = request
    const begun =
      key === undefined || dryRun
        ? await this.#storage.read((repositories) => this.#begin(repositories, organizationName, request))
        : await this.#beginWithKey(organizationName, request, key)
    return { id: begun.id, totalCount: begun.totalCount, results: this.#results(begun, request, owner) }
  }

  async *#results(
    begun: StartedRun,
    request: BulkRequest,
    owner: string | undefined,
  ): AsyncGenerator<readonly BulkResult[]> {
    const { partCount } = begun
    const begin = async (position: number) => {
      if (position > 0) await nextTurn()
      return this.#part(begun, position, request, owner)
    }
    const inFlight: Promise<readonly BulkResult[]>[] = []
    for (let position = 0; position < partCount; position += 1) {
      // The next part runs while this one is committed to disk. It completes even if the caller stops iterating.
      while (inFlight.length < partsAtOnce && position + inFlight.length < partCount) {
        const part = begin(position + inFlight.length)
        part.catch(() => {})
        inFlight.push(part)
      }
      const part = inFlight.shift()
      if (part !== undefined) yield await part
    }
  }

  #part(
    { id, ids }: StartedRun,
    position: number,
    { action, dryRun = false }: BulkRequest,
    owner: string | undefined,
  ): Promise<readonly BulkResult[]> {
    const { clock, random } = this.#runtime
    const context = () => ({ caller: this.#caller, owner, now: clock.now(), random, dryRun })
    if (ids !== undefined) {
      const some = ids.slice(position * workspacesPerPart, (position + 1) * workspacesPerPart)
      const work = (repositories: UsedRepositories) => doPart(repositories, action, some, context())
      return dryRun ? this.#storage.read(work) : this.#storage.transact(work)
    }
    return this.#storage.transact(async (repositories) => {
      const part = await repositories.bulkActions.part(id, position)
      // The stored action expired during its execution.
      if (part === undefined) throw notFound(id)
      if (part.results !== null) return part.results
      const results = await doPart(repositories, action, part.workspaceIds, context())
      await repositories.bulkActions.saveResults(id, position, results)
      return results
    })
  }

  async #begin(
    repositories: UsedRepositories,
    organizationName: string,
    request: BulkRequest,
  ): Promise<StartedRun & { readonly ids: readonly WorkspaceId[]; readonly organizationId: OrganizationId }> {
    const organizationId = await this.#organization(repositories, organizationName)
    const visibility = visibilityIn(this.#caller, organizationId)
    if (visibility === undefined) throw notFound(organizationName)
    actorOf(this.#caller)
    const { action, query = {} } = request
    if (action.kind === "move") {
      const { project } = await authorizeProject(repositories, this.#caller, action.projectId, "canMoveWorkspaces")
      if (project.organizationId !== organizationId) throw notFound(action.projectId)
    }
    const found = await repositories.workspaces.ids(query, visibility, { number: 1, size: maxBulkWorkspaces })
    if (found.totalCount > maxBulkWorkspaces)
      throw unprocessable(
        `${found.totalCount} workspaces match, but the maximum is ${maxBulkWorkspaces}; use narrower filters.`,
      )
    const id = newId("bulk", this.#runtime.random)
    // Without `sort`, process in the order in which the database stores the rows to be written: they are on half as many pages.
    const ids = query.sort === undefined ? found.items.toSorted() : found.items
    return { id, totalCount: ids.length, partCount: Math.ceil(ids.length / workspacesPerPart), ids, organizationId }
  }

  async #organization(repositories: UsedRepositories, name: string): Promise<OrganizationId> {
    return (await authorizeOrganization(repositories, this.#caller, name)).organization.id
  }

  #beginWithKey(organizationName: string, request: BulkRequest, key: string): Promise<StartedRun> {
    const text = textOf(request)
    return this.#storage.transact(async (repositories) => {
      const now = this.#runtime.clock.now()
      const organizationId = await this.#organization(repositories, organizationName)
      const scope: BulkKey = { organizationId, by: actorOf(this.#caller), key }
      const existing = await repositories.bulkActions.find(scope, now)
      if (existing !== undefined) {
        if (existing.request !== text) throw unprocessable("The Idempotency-Key has been used for another request.")
        return { id: existing.id, totalCount: existing.totalCount, partCount: existing.partCount }
      }
      const { id, totalCount, partCount, ids } = await this.#begin(repositories, organizationName, request)
      const expiresAt = now + bulkRetentionMs
      await repositories.bulkActions.insert(
        { ...scope, id, request: text, totalCount, createdAt: now, expiresAt },
        Array.from({ length: partCount }, (_, position) =>
          ids.slice(position * workspacesPerPart, (position + 1) * workspacesPerPart),
        ),
      )
      return { id, totalCount, partCount }
    })
  }
}

/** Returns the same text for the same request, whatever the order of its members. */
function textOf({ action, query = {}, all = false, owner }: BulkRequest): string {
  return JSON.stringify(sorted({ action, query, all, owner }))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}

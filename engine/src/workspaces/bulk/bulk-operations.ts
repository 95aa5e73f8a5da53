// Execution of one part of a bulk action: it applies the rules of the single action to each workspace, and then writes all changes
// together. A dry run ends before the writes.
import type { Caller } from "../../core/caller.ts"
import { type EngineError, isEngineError, notFound } from "../../core/errors.ts"
import type { WorkspaceId } from "../../core/ids.ts"
import type { RandomSource } from "../../core/random.ts"
import type { Instant } from "../../core/time.ts"
import { authorizeProject } from "../../organizations/authorization.ts"
import type { Change, EventRepository } from "../../events/feed/event.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { VcsConnectionRepository } from "../../organizations/vcs-connection.ts"
import { bind, type TaggableChange } from "../tags/bind-tags.ts"
import { addFlatAs, bindAs, type OwnershipPlan, rejectPlan, removeFlatAs } from "../tags/tag-owners.ts"
import { changesBetween, type TagBinding } from "../tags/tag-binding.ts"
import type { TagRepository } from "../tags/tag-repository.ts"
import type { AccessRepository } from "../access/access-repository.ts"
import { actorOf, withPermissions } from "../access/workspace-authorization.ts"
import type { BulkAction, BulkRejection, BulkResult } from "./bulk-action.ts"
import { rejectUnsafeDelete, removeWorkspace } from "../workspace/workspace-deletion.ts"
import { lock, nameHolders, unlock } from "../lock/lock.ts"
import { isVisible, require, type WorkspacePermission } from "../access/workspace-permissions.ts"
import { assertTokenAdmitted } from "../workspace/project-move.ts"
import { promote } from "../state/state-version-rules.ts"
import type { StateVersionRepository } from "../state/state-version-repository.ts"
import { tagChanges } from "../tags/tag-events.ts"
import { taggableOf } from "../tags/tag-service.ts"
import type { SituatedWorkspace } from "../workspace/workspace.ts"
import type { WorkspaceOutline, WorkspaceRepository } from "../workspace/workspace-repository.ts"

interface UsedRepositories {
  readonly events: EventRepository
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
  readonly projects: ProjectRepository
  readonly tags: TagRepository
  readonly stateVersions: StateVersionRepository
  readonly teams: TeamRepository
  readonly users: UserRepository
  readonly vcsConnections: VcsConnectionRepository
}

export interface BulkContext {
  readonly caller: Caller
  /** Owner under which tags are written. */
  readonly owner: string | undefined
  readonly now: Instant
  readonly random: RandomSource
}

/** Writes and events for one workspace. Tags and events of all workspaces are each written together. */
interface BulkOperation {
  readonly write?: () => Promise<void>
  readonly tags?: TaggableChange
  readonly events: readonly Change[]
}
/**
 * Rules of the single action for one workspace. The function returns undefined if the action would change nothing, and throws the error of
 * the single action.
 */
type PlanOperation<Found extends WorkspaceOutline> = (workspace: Found) => Promise<BulkOperation | undefined>
type TagAction = Extract<BulkAction, { readonly kind: "tag" | "untag" | "bind" }>

const neededFor: Record<BulkAction["kind"], readonly WorkspacePermission[]> = {
  lock: ["canLock"],
  unlock: ["canUnlock"],
  tag: ["canManageTags"],
  untag: ["canManageTags"],
  bind: ["canManageTags"],
  // A move needs permissions on both projects, not on the workspace.
  move: [],
  "safe-delete": ["canDestroy"],
}

interface PartContext extends BulkContext {
  readonly dryRun: boolean
}

export async function doPart(
  repositories: UsedRepositories,
  action: BulkAction,
  ids: readonly WorkspaceId[],
  context: PartContext,
): Promise<readonly BulkResult[]> {
  switch (action.kind) {
    case "tag":
    case "untag":
    case "bind": {
      const found = await repositories.workspaces.outlines(ids)
      return planAndWrite(
        repositories,
        action,
        ids,
        found,
        (seen) => taggingAs(repositories, action, seen, context),
        context,
      )
    }
    default: {
      const present = await repositories.workspaces.findMany(ids)
      // Locking a locked workspace fails for its holder too.
      const named = action.kind === "lock" ? await nameHolders(repositories, present) : present
      const found = action.kind === "unlock" ? await nameHolders(repositories, present, actorOf(context.caller)) : named
      return planAndWrite(
        repositories,
        action,
        ids,
        found,
        (seen) => planOperations(repositories, action, seen, context),
        context,
      )
    }
  }
}

async function planAndWrite<Found extends WorkspaceOutline>(
  repositories: UsedRepositories,
  action: BulkAction,
  ids: readonly WorkspaceId[],
  found: readonly Found[],
  planOperations: (seen: readonly Found[]) => Promise<PlanOperation<Found>>,
  context: PartContext,
): Promise<readonly BulkResult[]> {
  const authorized = await withPermissions(repositories, context.caller, found)
  const seen = new Map(
    authorized
      .filter(({ permissions }) => isVisible(permissions))
      .map(({ workspace, permissions }) => [workspace.id, { workspace, permissions }]),
  )
  const planOperation = await planOperations([...seen.values()].map(({ workspace }) => workspace))
  const operations: BulkOperation[] = []
  const changed: WorkspaceId[] = []
  const results: BulkResult[] = []
  for (const workspaceId of ids) {
    const place = seen.get(workspaceId)
    if (place === undefined) {
      results.push({ workspaceId, name: null, outcome: "refused", refusal: rejectionOf(notFound(workspaceId)) })
      continue
    }
    const { workspace, permissions } = place
    const { name } = workspace
    try {
      for (const permission of neededFor[action.kind]) require(permissions, permission, workspaceId)
      const operation = await planOperation(workspace)
      if (operation !== undefined) {
        operations.push(operation)
        changed.push(workspaceId)
      }
      results.push({ workspaceId, name, outcome: operation === undefined ? "unchanged" : "done" })
    } catch (error) {
      // Errors of the database are no result of a workspace.
      if (!isEngineError(error) || error.code === "busy") throw error
      results.push({ workspaceId, name, outcome: "refused", refusal: rejectionOf(error) })
    }
  }
  if (context.dryRun) return results
  repositories.workspaces.guard(changed)
  await bind(
    repositories.tags,
    operations.flatMap(({ tags }) => tags ?? []),
    context,
  )
  for (const { write } of operations) await write?.()
  await repositories.events.append(...operations.flatMap(({ events }) => events))
  return results
}

const rejectionOf = ({ code, message, facts }: EngineError): BulkRejection => ({
  code,
  detail: message,
  ...(facts === undefined ? {} : { facts }),
})

async function planOperations(
  repositories: UsedRepositories,
  action: Exclude<BulkAction, TagAction>,
  workspaces: readonly SituatedWorkspace[],
  { caller, now }: BulkContext,
): Promise<PlanOperation<SituatedWorkspace>> {
  const by = actorOf(caller)
  switch (action.kind) {
    case "lock":
      return async (workspace) => {
        const change = lock(workspace, by, action, now)
        return {
          write: () => repositories.workspaces.saveLock(workspace.id, change),
          events: [{ kind: "workspace.locked", workspace, changed: ["locked"] }],
        }
      }
    case "unlock":
      return async (workspace) => {
        if (!workspace.lock.held) return undefined
        const newest = await repositories.stateVersions.newestUnderLock(workspace.id, workspace.lockNumber)
        const change = unlock(workspace, by, newest?.status === "pending", now)
        return {
          async write() {
            await promote(repositories, workspace, newest)
            await repositories.workspaces.saveLock(workspace.id, change)
          },
          events: [{ kind: "workspace.unlocked", workspace, changed: ["locked"] }],
        }
      }
    case "move":
      return moving(repositories, caller, action.projectId, workspaces, now)
    case "safe-delete":
      return async (workspace) => {
        rejectUnsafeDelete(workspace, await repositories.workspaces.stateIsProcessed(workspace.id))
        // `removeWorkspace` appends its own event, before it deletes the workspace.
        return { write: () => removeWorkspace(repositories, workspace), events: [] }
      }
    default:
      return action satisfies never
  }
}

async function taggingAs(
  { tags }: UsedRepositories,
  action: TagAction,
  workspaces: readonly WorkspaceOutline[],
  { owner }: BulkContext,
): Promise<PlanOperation<WorkspaceOutline>> {
  const present = await tags.bindingsOf(workspaces.map(taggableOf))
  return async (workspace) => {
    const before = present.get(workspace.id) ?? []
    const planned = planOf(action, owner, before)
    rejectPlan(planned)
    const change = changesBetween(before, planned.bindings)
    if (change.put.length === 0 && change.remove.length === 0) return undefined
    return { tags: { taggable: taggableOf(workspace), change }, events: tagChanges(workspace, change) }
  }
}

function planOf(action: TagAction, owner: string | undefined, present: readonly TagBinding[]): OwnershipPlan {
  switch (action.kind) {
    case "tag":
      return addFlatAs(owner, present, action.tags, ["tags"])
    case "untag":
      return removeFlatAs(owner, present, action.tags)
    case "bind":
      return bindAs(owner, present, action.bindings, ["bindings"])
    default:
      return action satisfies never
  }
}

async function moving(
  repositories: UsedRepositories,
  caller: Caller,
  projectId: string,
  workspaces: readonly SituatedWorkspace[],
  now: Instant,
): Promise<PlanOperation<SituatedWorkspace>> {
  const { project } = await authorizeProject(repositories, caller, projectId, "canMoveWorkspaces")
  const errors = new Map<string, EngineError>()
  for (const source of new Set(workspaces.map((workspace) => workspace.projectId)))
    await authorizeProject(repositories, caller, source, "canMoveWorkspaces").catch((error: unknown) => {
      if (!isEngineError(error, "not-found")) throw error
      errors.set(source, error)
    })
  return async (workspace) => {
    if (workspace.projectId === project.id) return undefined
    const refusal = errors.get(workspace.projectId)
    if (refusal !== undefined) throw refusal
    const after = { ...workspace, projectId: project.id, updatedAt: now }
    await assertTokenAdmitted(repositories, after, { from: workspace.projectId })
    return {
      write: () => repositories.workspaces.save(workspace, after),
      events: [{ kind: "workspace.moved", workspace, changed: ["project"] }],
    }
  }
}

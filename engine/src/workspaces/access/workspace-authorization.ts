// The one way from a reference to a workspace that the caller may act on. Everything else that hangs on a workspace
// (tags, state versions, runs, variables …) passes through here first.
import { type Caller, membershipIn } from "../../core/caller.ts"
import { type Fault, notFound } from "../../core/errors.ts"
import type { OrganizationId, TeamId } from "../../core/ids.ts"
import type { Visibility } from "../workspace/workspace-query.ts"
import type { WorkspaceOutline, WorkspaceRepository } from "../workspace/workspace-repository.ts"
import type { Actor, SituatedWorkspace, WorkspaceRef } from "../workspace/workspace.ts"
import type { AccessRepository } from "./access-repository.ts"
import {
  type Grant,
  isVisible,
  needsGrants,
  organizationWideAccess,
  require,
  type WorkspacePermission,
  type WorkspacePermissions,
  workspacePermissions,
} from "./workspace-permissions.ts"

export interface AuthorizedWorkspace<Found extends WorkspaceOutline = SituatedWorkspace> {
  readonly workspace: Found
  readonly permissions: WorkspacePermissions
}

interface AuthorizationRepositories {
  readonly workspaces: WorkspaceRepository
  readonly access: AccessRepository
}

/** Not found unless the caller sees the workspace and holds every permission asked for. */
export async function authorizeWorkspace(
  stores: AuthorizationRepositories,
  caller: Caller,
  ref: WorkspaceRef,
  ...needed: readonly WorkspacePermission[]
): Promise<AuthorizedWorkspace> {
  const teams = teamsThatCount(caller)
  const found =
    teams.length === 0
      ? withoutGrants(await stores.workspaces.find(ref))
      : await stores.workspaces.findGranted(ref, teams)
  if (found === undefined) throw notFound("id" in ref ? ref.id : `${ref.organization}/${ref.name}`)
  const { workspace } = found
  const permissions = permissionsOn(caller, workspace, found.grants)
  if (!isVisible(permissions)) throw notFound(workspace.id)
  for (const permission of needed) require(permissions, permission, workspace.id)
  return { workspace, permissions }
}

/** Those whose grants decide what the caller may do, wherever that is: a team has grants in its own organization alone. */
function teamsThatCount(caller: Caller): readonly TeamId[] {
  if (caller.kind === "team") return needsGrants(caller, caller.organizationId) ? [caller.teamId] : []
  if (caller.kind !== "user" || caller.memberships.size === 0) return []
  return [...caller.memberships].flatMap(([id, { teams }]) => (needsGrants(caller, id) ? teams : []))
}

const withoutGrants = (workspace: SituatedWorkspace | undefined) => workspace && { workspace, grants: [] }

const permissionsOn = (caller: Caller, workspace: WorkspaceOutline, grants: readonly Grant[]): WorkspacePermissions =>
  workspacePermissions(
    caller,
    {
      id: workspace.organizationId,
      allowForceDeleteWorkspaces: workspace.organization.allowForceDeleteWorkspaces,
    },
    grants,
  )

/** The caller's permissions on each of several workspaces, in their order. */
export async function withPermissions<Found extends WorkspaceOutline>(
  stores: Pick<AuthorizationRepositories, "access">,
  caller: Caller,
  workspaces: readonly Found[],
): Promise<AuthorizedWorkspace<Found>[]> {
  const granted = workspaces.filter((workspace) => needsGrants(caller, workspace.organizationId))
  const teams = [...new Set(granted.flatMap((workspace) => teamsOf(caller, workspace.organizationId)))]
  const grants =
    teams.length === 0
      ? undefined
      : await stores.access.grantsOn(
          granted.map(({ id }) => id),
          teams,
        )
  return workspaces.map((workspace) => ({
    workspace,
    permissions: permissionsOn(caller, workspace, grants?.get(workspace.id) ?? []),
  }))
}

export const teamsOf = (caller: Caller, organizationId: OrganizationId) =>
  membershipIn(caller, organizationId)?.teams ?? []

/** Which workspaces a list may show; undefined for a stranger, to whom the organization does not exist. */
export function visibilityIn(caller: Caller, organizationId: OrganizationId): Visibility | undefined {
  const wide = organizationWideAccess(caller, organizationId)
  if (wide === "none") return undefined
  if (wide === "by-grant") return { organizationId, all: false, teams: teamsOf(caller, organizationId) }
  return { organizationId, all: true }
}

/** Who a lock, run or state version is ascribed to. */
export function actorOf(caller: Caller): Actor {
  switch (caller.kind) {
    case "user":
      return { kind: "users", id: caller.userId }
    case "team":
      return { kind: "teams", id: caller.teamId }
    case "organization":
      return { kind: "organizations", id: caller.organizationId }
    case "agent":
    case "service":
    case "anonymous":
      throw notFound()
    default:
      return caller satisfies never
  }
}

/** What a rule made of its input, and everything that is wrong with it; the value counts only when nothing is. */
export interface Checked<T> {
  readonly value: T
  readonly faults: readonly Fault[]
}

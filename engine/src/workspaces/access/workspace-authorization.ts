// Resolution of references to workspaces, with authorization. All access to a workspace and its resources (tags, state versions, runs,
// variables …) goes through this file.
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

/** Throws `not-found` unless the caller can see the workspace and has every needed permission. */
export async function authorizeWorkspace(
  repositories: AuthorizationRepositories,
  caller: Caller,
  ref: WorkspaceRef,
  ...needed: readonly WorkspacePermission[]
): Promise<AuthorizedWorkspace> {
  const teams = teamsThatCount(caller)
  const found =
    teams.length === 0
      ? withoutGrants(await repositories.workspaces.find(ref))
      : await repositories.workspaces.findGranted(ref, teams)
  if (found === undefined) throw notFound("id" in ref ? ref.id : `${ref.organization}/${ref.name}`)
  const { workspace } = found
  const permissions = permissionsOn(caller, workspace, found.grants)
  if (!isVisible(permissions)) throw notFound(workspace.id)
  for (const permission of needed) require(permissions, permission, workspace.id)
  return { workspace, permissions }
}

/** Returns the teams whose grants can decide the caller's permissions on any workspace. A team has grants only in its own organization. */
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

/** Returns the caller's permissions on each of several workspaces, in their order. */
export async function withPermissions<Found extends WorkspaceOutline>(
  repositories: Pick<AuthorizationRepositories, "access">,
  caller: Caller,
  workspaces: readonly Found[],
): Promise<AuthorizedWorkspace<Found>[]> {
  const granted = workspaces.filter((workspace) => needsGrants(caller, workspace.organizationId))
  const teams = [...new Set(granted.flatMap((workspace) => teamsOf(caller, workspace.organizationId)))]
  const grants =
    teams.length === 0
      ? undefined
      : await repositories.access.grantsOn(
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

/**
 * Returns the workspaces that a list may contain. Returns undefined if the caller does not belong to the organization, which then answers
 * 404.
 */
export function visibilityIn(caller: Caller, organizationId: OrganizationId): Visibility | undefined {
  const wide = organizationWideAccess(caller, organizationId)
  if (wide === "none") return undefined
  if (wide === "by-grant") return { organizationId, all: false, teams: teamsOf(caller, organizationId) }
  return { organizationId, all: true }
}

/** Returns the holder or creator to record in a lock, run or state version. */
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

/** Result of a rule with its faults. Use the value only if there are no faults. */
export interface Checked<T> {
  readonly value: T
  readonly faults: readonly Fault[]
}

import { type Caller, membershipIn } from "../core/caller.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"

export const projectAccessLevels = ["read", "write", "maintain", "admin"] as const
export type ProjectAccessLevel = (typeof projectAccessLevels)[number]

/** Project access as it reaches the workspaces inside. */
export const workspaceAccessOfProject: Record<ProjectAccessLevel, "read" | "write" | "admin"> = {
  read: "read",
  write: "write",
  maintain: "admin",
  admin: "admin",
}

/** Rights inside a project, beyond those on the workspaces it holds. */
export interface ProjectPermissions {
  readonly canRead: boolean
  readonly canUpdate: boolean
  readonly canDestroy: boolean
  readonly canCreateWorkspace: boolean
  /** Both ends of a move need this one (specification 4.3). */
  readonly canMoveWorkspaces: boolean
}

export function projectPermissions(
  caller: Caller,
  project: { readonly id: ProjectId; readonly organizationId: OrganizationId },
  grants: readonly ProjectAccessLevel[],
): ProjectPermissions {
  const membership = membershipIn(caller, project.organizationId)
  const wideAdmin = membership !== undefined && (membership.owner || membership.access.manageProjects)
  const admin = wideAdmin || grants.includes("admin")
  const create = admin || membership?.access.manageWorkspaces === true || grants.includes("maintain")
  const read =
    create ||
    grants.length > 0 ||
    membership?.access.readProjects === true ||
    membership?.access.readWorkspaces === true
  return {
    canRead: membership !== undefined && read,
    canUpdate: admin,
    canDestroy: admin,
    canCreateWorkspace: membership !== undefined && create,
    canMoveWorkspaces: admin,
  }
}

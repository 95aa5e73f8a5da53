import { type Caller, membershipIn } from "../core/caller.ts"
import type { OrganizationId, ProjectId } from "../core/ids.ts"
import { namedAccessLevels, type NamedAccessLevel, partsOf, type ProjectAccess } from "./custom-project-access.ts"

export const projectAccessLevels = [...namedAccessLevels, "custom"] as const
export type ProjectAccessLevel = (typeof projectAccessLevels)[number]

/** Project access as it reaches the workspaces inside; a custom one says its own. */
export const workspaceAccessOfProject: Record<NamedAccessLevel, "read" | "write" | "admin"> = {
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
  /** A move needs this permission on both projects. */
  readonly canMoveWorkspaces: boolean
  /** See which teams have access, and change it. */
  readonly canReadTeams: boolean
  readonly canManageTeams: boolean
}

export function projectPermissions(
  caller: Caller,
  project: { readonly id: ProjectId; readonly organizationId: OrganizationId },
  grants: readonly ProjectAccess[],
): ProjectPermissions {
  const membership = membershipIn(caller, project.organizationId)
  const isWideAdmin = membership !== undefined && (membership.owner || membership.access.manageProjects)
  const isAdmin = isWideAdmin || grants.some(({ access }) => access === "admin")
  const readsAll = membership?.access.readProjects === true || membership?.access.readWorkspaces === true
  const parts = grants.map(partsOf)
  const settings = parts.map(({ projectAccess }) => projectAccess.settings)
  const teams = parts.map(({ projectAccess }) => projectAccess.teams)
  const manages = membership?.access.manageWorkspaces === true
  const canCreateWorkspace = isAdmin || manages || parts.some(({ workspaceAccess }) => workspaceAccess.create)
  return {
    canRead: membership !== undefined && (canCreateWorkspace || grants.length > 0 || readsAll),
    canUpdate: isAdmin || settings.some((one) => one !== "read"),
    canDestroy: isAdmin || settings.includes("delete"),
    canCreateWorkspace: membership !== undefined && canCreateWorkspace,
    canMoveWorkspaces: isAdmin || parts.some(({ workspaceAccess }) => workspaceAccess.move),
    canReadTeams: isAdmin || manages || readsAll || teams.some((one) => one !== "none"),
    canManageTeams: isAdmin || teams.includes("manage"),
  }
}

// Permissions of a caller on an organization. Without the permission, the answer is "not found", for members and others alike
// (docs/permissions.md).
import { type Caller, type Membership, membershipIn } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import type { OrganizationId } from "../core/ids.ts"

export const organizationPermissionNames = [
  "canUpdate",
  "canDestroy",
  "canTraverse",
  "canAccessViaTeams",
  "canCreateTeam",
  "canCreateWorkspace",
  "canCreateProject",
  "canManageUsers",
  "canManageTags",
  "canUpdateOauth",
  "canUpdateSshKeys",
  "canUpdateAgentPools",
  "canUpdateApiToken",
  // Of registries, policies and run tasks there are none here: who would manage them can be read.
  "canManageRunTasks",
  "canUpdateSentinel",
  "canCreateModule",
  "canCreateProvider",
  "canManageNoCodeModules",
  "canDeployNoCodeModules",
] as const
export type OrganizationPermissionName = (typeof organizationPermissionNames)[number]
export type OrganizationPermissions = { readonly [name in OrganizationPermissionName]: boolean }

/** Undefined for a stranger, to whom the organization does not exist. */
export function permissionsIn(caller: Caller, organizationId: OrganizationId): OrganizationPermissions | undefined {
  const membership = membershipIn(caller, organizationId)
  return membership && permissionsOf(membership, caller.kind === "organization")
}

/** An organization token administers, but neither ends the organization nor makes its own successor. */
export function permissionsOf({ owner, access }: Membership, organizationToken = false): OrganizationPermissions {
  return {
    canUpdate: owner || organizationToken,
    canDestroy: owner,
    canTraverse: true,
    canAccessViaTeams: true,
    canCreateTeam: owner || access.manageTeams,
    canCreateWorkspace: owner || access.manageWorkspaces || access.manageProjects,
    canCreateProject: owner || access.manageProjects,
    canManageUsers: owner || access.manageMembership,
    canManageTags: owner || access.manageWorkspaces || access.manageProjects,
    canUpdateOauth: owner || access.manageVcsSettings,
    canUpdateSshKeys: owner || access.manageVcsSettings,
    canUpdateAgentPools: owner || access.manageAgentPools,
    canUpdateApiToken: owner,
    canManageRunTasks: owner || access.manageRunTasks,
    canUpdateSentinel: owner || access.managePolicies,
    canCreateModule: owner || access.manageModules,
    canCreateProvider: owner || access.manageProviders,
    canManageNoCodeModules: owner || access.manageModules,
    canDeployNoCodeModules: owner || access.manageWorkspaces || access.manageProjects,
  }
}

export function requireOrganization(
  permissions: OrganizationPermissions,
  permission: OrganizationPermissionName,
  subject: string,
): void {
  if (!permissions[permission]) throw notFound(subject)
}

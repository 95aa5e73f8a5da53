// Resolution of organization names, with authorization.
import { type Caller, type Membership, membershipIn } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import {
  type Organization,
  type OrganizationPermissionName,
  type OrganizationPermissions,
  type OrganizationRepository,
  permissionsIn,
  requireOrganization,
} from "./organization.ts"
import { type Project, projectPermissions, type ProjectPermissions, type ProjectRepository } from "./project.ts"
import type { ProjectAccess } from "./team-project-access.ts"

export interface AuthorizedOrganization {
  readonly organization: Organization
  readonly membership: Membership
  readonly permissions: OrganizationPermissions
}

/** Throws `not-found` unless the caller belongs to the organization and has every needed permission. */
export async function authorizeOrganization(
  { organizations }: { readonly organizations: OrganizationRepository },
  caller: Caller,
  name: string,
  ...needed: readonly OrganizationPermissionName[]
): Promise<AuthorizedOrganization> {
  const organization = await organizations.findByName(name)
  if (organization === undefined) throw notFound(name)
  const membership = membershipIn(caller, organization.id)
  const permissions = permissionsIn(caller, organization.id)
  if (membership === undefined || permissions === undefined) throw notFound(name)
  for (const permission of needed) requireOrganization(permissions, permission, name)
  return { organization, membership, permissions }
}

/** Throws `not-found` unless the caller is a site administrator. */
export function requireSiteAdmin(caller: Caller): void {
  if (caller.kind !== "user" || !caller.siteAdmin) throw notFound()
}

// Resolution of project ids, with authorization.

export interface AuthorizedProject {
  readonly project: Project
  readonly permissions: ProjectPermissions
}

interface AuthorizationRepositories {
  readonly projects: ProjectRepository
}

/** Throws `not-found` unless the caller can see the project and has every needed permission. */
export async function authorizeProject(
  repositories: AuthorizationRepositories,
  caller: Caller,
  id: string,
  ...needed: readonly (keyof ProjectPermissions)[]
): Promise<AuthorizedProject> {
  const project = await repositories.projects.find(id)
  if (project === undefined) throw notFound(id)
  const [permissions] = await permissionsOn(repositories, caller, [project])
  if (permissions === undefined || !permissions.canRead) throw notFound(id)
  if (needed.some((name) => !permissions[name])) throw notFound(id)
  return { project, permissions }
}

/** Returns the grants of the caller's teams on one project. */
export async function grantsOn(
  { projects }: AuthorizationRepositories,
  caller: Caller,
  { id, organizationId }: Pick<Project, "id" | "organizationId">,
): Promise<readonly ProjectAccess[]> {
  const teams = membershipIn(caller, organizationId)?.teams ?? []
  return teams.length === 0 ? [] : ((await projects.grantsOn([id], teams)).get(id) ?? [])
}

/** Returns the caller's permissions on each of several projects, in their order. */
export async function permissionsOn(
  { projects }: AuthorizationRepositories,
  caller: Caller,
  subjects: readonly Project[],
): Promise<ProjectPermissions[]> {
  const teams = [...new Set(subjects.flatMap((project) => membershipIn(caller, project.organizationId)?.teams ?? []))]
  const grants =
    teams.length === 0
      ? undefined
      : await projects.grantsOn(
          subjects.map(({ id }) => id),
          teams,
        )
  return subjects.map((project) => projectPermissions(caller, project, grants?.get(project.id) ?? []))
}

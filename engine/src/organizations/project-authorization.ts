// The one way from an id to a project the caller may see and act on.
import { type Caller, membershipIn } from "../core/caller.ts"
import { notFound } from "../core/errors.ts"
import type { ProjectAccess } from "./custom-project-access.ts"
import type { Project } from "./project.ts"
import { projectPermissions, type ProjectPermissions } from "./project-permissions.ts"
import type { ProjectRepository } from "./project-store.ts"

export interface AuthorizedProject {
  readonly project: Project
  readonly permissions: ProjectPermissions
}

interface AuthorizationStores {
  readonly projects: ProjectRepository
}

/** Not found unless the caller sees the project and holds every permission asked for. */
export async function authorizeProject(
  stores: AuthorizationStores,
  caller: Caller,
  id: string,
  ...needed: readonly (keyof ProjectPermissions)[]
): Promise<AuthorizedProject> {
  const project = await stores.projects.find(id)
  if (project === undefined) throw notFound(id)
  const [permissions] = await permissionsOn(stores, caller, [project])
  if (permissions === undefined || !permissions.canRead) throw notFound(id)
  if (needed.some((name) => !permissions[name])) throw notFound(id)
  return { project, permissions }
}

/** What the caller's teams were given on one project. */
export async function grantsOn(
  { projects }: AuthorizationStores,
  caller: Caller,
  { id, organizationId }: Pick<Project, "id" | "organizationId">,
): Promise<readonly ProjectAccess[]> {
  const teams = membershipIn(caller, organizationId)?.teams ?? []
  return teams.length === 0 ? [] : ((await projects.grantsOn([id], teams)).get(id) ?? [])
}

/** The caller's permissions on each of several projects, in their order. */
export async function permissionsOn(
  { projects }: AuthorizationStores,
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

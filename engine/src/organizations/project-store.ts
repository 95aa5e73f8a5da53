import type { OrganizationId, ProjectId, TeamId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Project } from "./project.ts"
import type { ProjectAccess } from "./custom-project-access.ts"

export interface ProjectQuery {
  readonly organizationId: OrganizationId
  /** Exactly one of these, case-insensitively. */
  readonly names?: readonly string[]
  /** Part of the name. */
  readonly search?: string
  /** Only those given to one of these teams; absent means all of the organization. */
  readonly grantedTo?: readonly TeamId[]
}

export interface ProjectCounts {
  readonly workspaces: number
  readonly teams: number
}

export interface ProjectRepository {
  find(id: string): Promise<Project | undefined>
  findMany(ids: readonly ProjectId[]): Promise<readonly Project[]>
  defaultOf(organizationId: OrganizationId): Promise<Project>
  list(query: ProjectQuery, page: PageRequest): Promise<Page<Project>>
  /** What these teams were given on these projects. */
  grantsOn(
    ids: readonly ProjectId[],
    teams: readonly TeamId[],
  ): Promise<ReadonlyMap<ProjectId, readonly ProjectAccess[]>>
  countsOf(ids: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, ProjectCounts>>
  /** Throws `EngineError("invalid")` on `name` when the organization has a project of that name. */
  insert(project: Project): Promise<void>
  save(project: Project): Promise<void>
  remove(id: ProjectId): Promise<void>
}

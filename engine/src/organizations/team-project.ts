import type { ProjectId, TeamId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { ProjectAccess, ProjectAccessPatch } from "./custom-project-access.ts"

/** What one team was given on one project. */
export type TeamProject = TeamProjectSubject & ProjectAccess

interface TeamProjectSubject {
  readonly id: string
  readonly teamId: TeamId
  readonly projectId: ProjectId
}

export interface TeamProjectInput extends ProjectAccessPatch {
  readonly teamId: string
  readonly projectId: string
  readonly access: ProjectAccess["access"]
}

/** Team access to projects, and so to every workspace inside. For callers who manage the teams of the project. */
export interface TeamProjects {
  /** Refused with `invalid` for a team that has access already; change that. */
  create(input: TeamProjectInput): Promise<TeamProject>
  list(projectId: string, page: PageRequest): Promise<Page<TeamProject>>
  get(id: string): Promise<TeamProject>
  update(id: string, patch: ProjectAccessPatch): Promise<TeamProject>
  delete(id: string): Promise<void>
}

export interface TeamProjectRepository {
  find(id: string): Promise<TeamProject | undefined>
  list(projectId: ProjectId, page: PageRequest): Promise<Page<TeamProject>>
  /** Throws `EngineError("invalid")` on `team` when the team has access already. */
  insert(access: TeamProject): Promise<void>
  save(access: TeamProject): Promise<void>
  remove(id: string): Promise<void>
}

import type { ProjectId } from "../core/ids.ts"
import type { Writer } from "../core/owner.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Instant } from "../core/time.ts"
import type { ExecutionMode } from "./organization.ts"
import type { ProjectInput, ProjectPatch, ProjectSettingOverwrites } from "./project.ts"
import type { ProjectPermissions } from "./project-permissions.ts"
import type { ProjectCounts } from "./project-store.ts"

/** What a caller is shown of a project. */
export interface ProjectView {
  readonly id: ProjectId
  readonly organizationName: string
  readonly name: string
  readonly description: string
  readonly createdAt: Instant
  readonly autoDestroyActivityDuration: string | null
  /** What the workspaces inside inherit: the project's own value where it overwrites, else the organization's. */
  readonly defaultExecutionMode: ExecutionMode
  readonly defaultAgentPoolId: string | null
  readonly settingOverwrites: Required<ProjectSettingOverwrites>
  readonly permissions: ProjectPermissions
  readonly counts: ProjectCounts
}

export interface ProjectFilter {
  /** Exactly one of these. */
  readonly names?: readonly string[]
  /** Part of the name. */
  readonly search?: string
}

/** The project family of the engine. */
export interface Projects {
  /** Refuses with `invalid` a name that the organization has already, in any case of its letters. */
  create(organization: string, input: ProjectInput, writer?: Writer): Promise<ProjectView>
  /** Those the caller may see. */
  list(organization: string, filter: ProjectFilter, page: PageRequest): Promise<Page<ProjectView>>
  get(id: string): Promise<ProjectView>
  /**
   * Members left out keep their values; null inherits the organization's default again. Bindings replace those there are, or of
   * a writer with an owner those that it holds.
   */
  update(id: string, patch: ProjectPatch, writer?: Writer): Promise<ProjectView>
  /** Refused with `conflict` for the default project and for one that holds workspaces. */
  delete(id: string): Promise<void>
}

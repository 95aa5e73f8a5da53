import type { OrganizationId, ProjectId } from "../core/ids.ts"
import type { Instant } from "../core/time.ts"
import type { ExecutionMode } from "./organization.ts"

export interface Project {
  readonly id: ProjectId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly description: string
  readonly isDefault: boolean
  readonly createdAt: Instant
  readonly autoDestroyActivityDuration: string | null
  /** Null inherits the organization's default. */
  readonly defaultExecutionMode: ExecutionMode | null
  readonly defaultAgentPoolId: string | null
}

export const defaultProjectName = "Default Project"

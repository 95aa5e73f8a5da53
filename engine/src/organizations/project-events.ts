// Port to the event feed. `events` depends on organizations, not the other way round.
import type { OrganizationId, ProjectId } from "../core/ids.ts"

export interface ProjectChange {
  readonly kind: "project.created" | "project.updated" | "project.deleted"
  readonly organizationId: OrganizationId
  readonly subject: { readonly type: "projects"; readonly id: ProjectId }
  /** Names of attributes, never values. */
  readonly changed?: readonly string[]
}

export interface ProjectEvents {
  /** Appends to the feed in the transaction of the change. */
  append(...changes: readonly ProjectChange[]): Promise<void>
}

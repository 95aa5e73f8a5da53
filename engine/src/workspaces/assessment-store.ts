import type { WorkspaceId } from "../core/ids.ts"
import type { Page, PageRequest } from "../core/page.ts"
import type { Assessment } from "./assessment.ts"

export interface AssessmentRepository {
  find(id: string): Promise<Assessment | undefined>
  /** Newest first. */
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<Assessment>>
  insert(assessment: Assessment): Promise<void>
  remove(id: string): Promise<void>
}

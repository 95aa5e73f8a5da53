import type { Page, PageRequest } from "../core/page.ts"
import type { AssessmentInput, AssessmentView } from "./assessment.ts"
import type { WorkspaceRef } from "./workspace.ts"

/** What health assessments of workspaces found. */
export interface Assessments {
  create(ref: WorkspaceRef, input: AssessmentInput): Promise<AssessmentView>
  get(id: string): Promise<AssessmentView>
  /** Newest first. */
  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<AssessmentView>>
  delete(id: string): Promise<void>
}

import type { Fault } from "../../core/errors.ts"
import type { OrganizationId, WorkspaceId } from "../../core/ids.ts"
import type { Page, PageRequest } from "../../core/page.ts"
import type { Instant } from "../../core/time.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"

/** Result of a health assessment of a workspace. */
export interface Assessment {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly organizationId: OrganizationId
  readonly drifted: boolean
  readonly succeeded: boolean
  readonly errorMessage: string | null
  readonly createdAt: Instant
}

export type AssessmentInput = Pick<Assessment, "drifted" | "succeeded" | "errorMessage">
export type AssessmentView = Omit<Assessment, "organizationId">

const maxErrorMessage = 65_536

export const errorMessageFaults = (text: string): Fault[] =>
  text.length <= maxErrorMessage
    ? []
    : [{ field: ["errorMessage"], detail: `error-msg is too long (maximum is ${maxErrorMessage} characters)` }]

/** Returns the members of a workspace that describe its newest assessment. */
export const currentAssessmentFacts = (newest: Assessment | undefined) => ({
  currentAssessmentResultId: newest?.id ?? null,
  lastAssessmentResultAt: newest?.createdAt ?? null,
})

/** Operations on results of health assessments. */
export interface Assessments {
  create(ref: WorkspaceRef, input: AssessmentInput): Promise<AssessmentView>
  get(id: string): Promise<AssessmentView>
  /** Lists the newest first. */
  list(ref: WorkspaceRef, page: PageRequest): Promise<Page<AssessmentView>>
  delete(id: string): Promise<void>
}

export interface AssessmentRepository {
  find(id: string): Promise<Assessment | undefined>
  /** Lists the newest first. */
  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<Assessment>>
  insert(assessment: Assessment): Promise<void>
  remove(id: string): Promise<void>
}

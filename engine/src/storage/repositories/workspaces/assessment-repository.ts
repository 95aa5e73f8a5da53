import type { OrganizationId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Assessment, AssessmentRepository } from "../../../workspaces/assessments/assessment.ts"
import { selectPage } from "../../sql/select-page.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import type { AssessmentResultRow } from "../../schema/tables.ts"

export class SqlAssessmentRepository implements AssessmentRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<Assessment | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("assessment_results").select(columns).where("id", "=", id),
    )
    return row && assessmentOf(row)
  }

  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<Assessment>> {
    const query = this.#session.db
      .selectFrom("assessment_results")
      .select(columns)
      .where("workspace_id", "=", workspaceId)
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
    return selectPage(this.#session, query, page, assessmentOf)
  }

  async insert(assessment: Assessment): Promise<void> {
    await this.#session.execute(
      this.#session.db.insertInto("assessment_results").values({
        id: assessment.id,
        workspace_id: assessment.workspaceId,
        organization_id: assessment.organizationId,
        drifted: assessment.drifted ? 1 : 0,
        succeeded: assessment.succeeded ? 1 : 0,
        error_message: assessment.errorMessage,
        created_at: assessment.createdAt,
      }),
    )
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("assessment_results").where("id", "=", id))
  }
}

const columns = [
  "id",
  "workspace_id",
  "organization_id",
  "drifted",
  "succeeded",
  "error_message",
  "created_at",
] as const satisfies readonly (keyof AssessmentResultRow)[]

const assessmentOf = (row: AssessmentResultRow): Assessment => ({
  id: row.id,
  workspaceId: row.workspace_id as WorkspaceId,
  organizationId: row.organization_id as OrganizationId,
  drifted: row.drifted === 1,
  succeeded: row.succeeded === 1,
  errorMessage: row.error_message,
  createdAt: row.created_at,
})

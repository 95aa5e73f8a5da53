import { type RawBuilder, sql } from "kysely"
import { dayMs, type Instant } from "../../../core/time.ts"
import type {
  RetentionPolicy,
  RetentionPolicyRepository,
  RetentionRule,
  RetentionSubject,
} from "../../../workspaces/state/retention-policy.ts"
import type { RetentionPolicyRow } from "../../schema/tables.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlRetentionPolicyRepository implements RetentionPolicyRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(subject: RetentionSubject): Promise<RetentionPolicy | undefined> {
    const row = await this.#session.queryOne(bySubject, subject)
    return row && { id: row.id, rule: ruleOf(row) }
  }

  async put({ kind, id }: RetentionSubject, policy: RetentionPolicy): Promise<void> {
    const { rule } = policy
    const columns = {
      id: policy.id,
      kind: rule.kind,
      delete_older_than_days: rule.kind === "delete-older" ? rule.days : null,
    }
    await this.#session.execute(
      this.#session.db
        .insertInto("retention_policies")
        .values({ ...columns, target_kind: kind, target_id: id })
        .onConflict((conflict) => conflict.columns(["target_kind", "target_id"]).doUpdateSet(columns)),
    )
  }

  async remove(subject: RetentionSubject): Promise<void> {
    await this.#session.execute(removeOf, subject)
  }
}

const bySubject = statement((db, { kind, id }: RetentionSubject) =>
  db
    .selectFrom("retention_policies")
    .select(["id", "kind", "delete_older_than_days"])
    .where("target_kind", "=", kind)
    .where("target_id", "=", id),
)
const removeOf = statement((db, { kind, id }: RetentionSubject) =>
  db.deleteFrom("retention_policies").where("target_kind", "=", kind).where("target_id", "=", id),
)

const ruleOf = (row: Pick<RetentionPolicyRow, "kind" | "delete_older_than_days">): RetentionRule =>
  row.kind === "dont-delete" ? { kind: "dont-delete" } : { kind: "delete-older", days: row.delete_older_than_days ?? 0 }

// Conditions of retention policies on a row `v` of a workspace `w`. The workspace's own policy overrides its organization's, which
// overrides the site's (docs/compatibility.md, "Retention policies").

/** Finds any policy that deletes. Without one, the search for old versions is skipped. */
export const anyDeletingPolicy = statement((db, _none: object) =>
  db.selectFrom("retention_policies").select("id").where("kind", "=", sql.lit("delete-older")).limit(sql.lit(1)),
)

/** Joins of the policies that apply to a workspace `w`. */
export const policiesOf = sql`
  left join retention_policies own on own.target_kind = 'workspace' and own.target_id = w.id
  left join retention_policies organization
    on organization.target_kind = 'organization' and organization.target_id = w.organization_id
  left join retention_policies site on site.target_kind = 'site' and site.target_id = ''`

/** Builds the condition that the policy which applies to `w` deletes `v` at the instant. */
export const isOlderThanKept = (now: Instant): RawBuilder<boolean> => sql<boolean>`
  coalesce(own.kind, organization.kind, site.kind) = 'delete-older'
  and v.created_at < ${now} - ${dayMs} * case
    when own.id is not null then own.delete_older_than_days
    when organization.id is not null then organization.delete_older_than_days
    else site.delete_older_than_days end`

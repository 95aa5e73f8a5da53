import type {
  RetentionPolicy,
  RetentionPolicyRepository,
  RetentionRule,
  RetentionSubject,
} from "../workspaces/retention-policy.ts"
import { type QueryRunner, statement } from "./session.ts"
import type { RetentionPolicyRow } from "./tables.ts"

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

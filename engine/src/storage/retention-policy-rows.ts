import type {
  RetentionPolicy,
  RetentionPolicyStore,
  RetentionRule,
  RetentionSubject,
} from "../workspaces/retention-policy.ts"
import { type Session, statement } from "./session.ts"
import type { RetentionPolicyRow } from "./tables.ts"

export class RetentionPolicyRows implements RetentionPolicyStore {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async find(subject: RetentionSubject): Promise<RetentionPolicy | undefined> {
    const row = await this.#session.first(bySubject, subject)
    return row && { id: row.id, rule: ruleOf(row) }
  }

  async put({ kind, id }: RetentionSubject, policy: RetentionPolicy): Promise<void> {
    const { rule } = policy
    const columns = {
      id: policy.id,
      kind: rule.kind,
      delete_older_than_days: rule.kind === "delete-older" ? rule.days : null,
    }
    await this.#session.run(
      this.#session.db
        .insertInto("retention_policies")
        .values({ ...columns, target_kind: kind, target_id: id })
        .onConflict((conflict) => conflict.columns(["target_kind", "target_id"]).doUpdateSet(columns)),
    )
  }

  async remove(subject: RetentionSubject): Promise<void> {
    await this.#session.run(removeOf, subject)
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

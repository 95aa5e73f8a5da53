import type { PathRule } from "../../../core/access.ts"
import type { Policy, PolicyHolder, PolicyRepository } from "../../../access/policies/policy.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import type { PolicyAttachmentRow } from "../../schema/tables.ts"

export class SqlPolicyRepository implements PolicyRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async names(): Promise<readonly string[]> {
    const query = this.#session.db.selectFrom("policies").select("name").orderBy("name")
    return (await this.#session.queryMany<{ name: string }>(query)).map(({ name }) => name)
  }

  async find(name: string): Promise<Policy | undefined> {
    const query = this.#session.db.selectFrom("policies").select(["text", "rules"]).where("name", "=", name)
    const row = await this.#session.queryOne<{ text: string; rules: string }>(query)
    return row && { name, text: row.text, rules: JSON.parse(row.rules) as readonly PathRule[] }
  }

  async save({ name, text, rules: parsed }: Policy): Promise<void> {
    const rules = JSON.stringify(parsed)
    await this.#session.execute(
      this.#session.db
        .insertInto("policies")
        .values({ name, text, rules })
        .onConflict((known) => known.column("name").doUpdateSet({ text, rules })),
    )
  }

  async remove(name: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("policies").where("name", "=", name))
  }

  async attachedTo(holder: PolicyHolder): Promise<readonly string[]> {
    const [column, id] = subjectOf(holder)
    const query = this.#session.db
      .selectFrom("policy_attachments")
      .select("policy_name")
      .where(column, "=", id)
      .orderBy("policy_name")
    return (await this.#session.queryMany<{ policy_name: string }>(query)).map((row) => row.policy_name)
  }

  async attach(name: string, holder: PolicyHolder): Promise<void> {
    const [column, id] = subjectOf(holder)
    const nobody = { user_id: null, team_id: null, token_id: null }
    const row: PolicyAttachmentRow = { policy_name: name, ...nobody, [column]: id }
    await this.#session.execute(
      this.#session.db
        .insertInto("policy_attachments")
        .values(row)
        .onConflict((known) => known.doNothing()),
    )
  }

  async detach(name: string, holder: PolicyHolder): Promise<void> {
    const [column, id] = subjectOf(holder)
    await this.#session.execute(
      this.#session.db.deleteFrom("policy_attachments").where("policy_name", "=", name).where(column, "=", id),
    )
  }
}

function subjectOf(holder: PolicyHolder): readonly ["user_id" | "team_id" | "token_id", string] {
  switch (holder.kind) {
    case "user":
      return ["user_id", holder.userId]
    case "team":
      return ["team_id", holder.teamId]
    case "token":
      return ["token_id", holder.tokenId]
    default:
      return holder satisfies never
  }
}

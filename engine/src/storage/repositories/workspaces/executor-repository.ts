import { sql } from "kysely"
import type { Instant } from "../../../core/time.ts"
import type {
  ExecutorFacts,
  ExecutorGroup,
  ExecutorQuery,
  ExecutorRepository,
} from "../../../workspaces/runs/executor-repository.ts"
import type { QueryRunner } from "../../sql/query-runner.ts"
import { admitted } from "../organizations/agent-pool-repository.ts"

export class SqlExecutorRepository implements ExecutorRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async facts({ organizationId, workspaceId, projectId, agentPoolId, now }: ExecutorQuery): Promise<ExecutorFacts> {
    const { db } = this.#session
    let pools = db
      .selectFrom("agent_pools")
      .select([
        "agent_pools.name",
        "agent_pools.agent_seen_at",
        sql<number>`case when exists (select 1 from tokens where tokens.agent_pool_id = agent_pools.id
          and (tokens.expires_at is null or tokens.expires_at > ${now})) then 1 else 0 end`.as("has_token"),
        sql<number>`case when ${admitted(sql.val(workspaceId), sql.val(projectId))} then 1 else 0 end`.as("admits"),
      ])
      .where("agent_pools.organization_id", "=", organizationId)
    if (agentPoolId !== null) pools = pools.where("agent_pools.id", "=", agentPoolId)
    const found = await this.#session.queryMany(pools)
    const rows = found.filter((row) => row.admits === 1)
    // Users and teams claim runs of the mode `remote` only.
    const claimed = agentPoolId === null ? await this.lastSeenAt({ organizationId }) : null
    const seen = [...rows.map((row) => row.agent_seen_at), claimed].filter((at) => at !== null)
    return {
      pool: agentPoolId === null ? undefined : found[0]?.name,
      hasAgentToken: rows.some((row) => row.has_token === 1),
      lastSeenAt: seen.length === 0 ? null : Math.max(...seen),
    }
  }

  async lastSeenAt(group: ExecutorGroup): Promise<Instant | null> {
    const { db } = this.#session
    const row =
      "agentPoolId" in group
        ? await this.#session.queryOne(
            db.selectFrom("agent_pools").select("agent_seen_at as at").where("id", "=", group.agentPoolId),
          )
        : await this.#session.queryOne(
            db.selectFrom("organizations").select("executor_seen_at as at").where("id", "=", group.organizationId),
          )
    return row?.at ?? null
  }

  async saveLastSeenAt(group: ExecutorGroup, now: Instant): Promise<void> {
    const { db } = this.#session
    await ("agentPoolId" in group
      ? this.#session.execute(
          db.updateTable("agent_pools").set({ agent_seen_at: now }).where("id", "=", group.agentPoolId),
        )
      : this.#session.execute(
          db.updateTable("organizations").set({ executor_seen_at: now }).where("id", "=", group.organizationId),
        ))
  }
}

import { sql } from "kysely"
import type { WorkspaceId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import type {
  BulkKey,
  BulkPart,
  BulkRepository,
  BulkResult,
  StoredBulkAction,
} from "../../../workspaces/bulk/bulk-action.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlBulkRepository implements BulkRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(key: BulkKey, now: Instant): Promise<(StoredBulkAction & { readonly partCount: number }) | undefined> {
    const row = await this.#session.queryOne(byKey, { ...scopeOf(key), now })
    if (row === undefined) return undefined
    return {
      ...key,
      id: row.id,
      request: row.request,
      totalCount: row.total_count,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      partCount: row.part_count,
    }
  }

  async insert(stored: StoredBulkAction, parts: readonly (readonly WorkspaceId[])[]): Promise<void> {
    const { db } = this.#session
    const { organizationId, kind, by, key } = scopeOf(stored)
    await this.#session.execute(removeOver, { organizationId, kind, by, key, now: stored.createdAt })
    await this.#session.execute(
      db.insertInto("bulk_actions").values({
        id: stored.id,
        organization_id: organizationId,
        by_kind: kind,
        by_id: by,
        idempotency_key: key,
        request: stored.request,
        total_count: stored.totalCount,
        created_at: stored.createdAt,
        expires_at: stored.expiresAt,
      }),
    )
    if (parts.length === 0) return
    await this.#session.execute(
      db.insertInto("bulk_action_parts").values(
        parts.map((ids, position) => ({
          bulk_action_id: stored.id,
          position,
          workspace_ids: JSON.stringify(ids),
          results: null,
        })),
      ),
    )
  }

  async part(id: string, position: number): Promise<BulkPart | undefined> {
    const row = await this.#session.queryOne(partAt, { id, position })
    if (row === undefined) return undefined
    return {
      workspaceIds: JSON.parse(row.workspace_ids) as WorkspaceId[],
      results: row.results === null ? null : (JSON.parse(row.results) as BulkResult[]),
    }
  }

  async saveResults(id: string, position: number, results: readonly BulkResult[]): Promise<void> {
    await this.#session.execute(writeResults, { id, position, results: JSON.stringify(results) })
  }

  sweep(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(forget, { now, limit })
  }
}

interface Scope {
  readonly organizationId: string
  readonly kind: string
  readonly by: string
  readonly key: string
}
const scopeOf = ({ organizationId, by, key }: BulkKey): Scope => ({ organizationId, kind: by.kind, by: by.id, key })

const byKey = statement((db, { organizationId, kind, by, key, now }: Scope & { readonly now: Instant }) =>
  db
    .selectFrom("bulk_actions")
    .select(["id", "request", "total_count", "created_at", "expires_at"])
    .select(
      sql<number>`(select count(*) from bulk_action_parts as p where p.bulk_action_id = bulk_actions.id)`.as(
        "part_count",
      ),
    )
    .where("organization_id", "=", organizationId)
    .where("by_kind", "=", kind)
    .where("by_id", "=", by)
    .where("idempotency_key", "=", key)
    .where("expires_at", ">", now),
)

const removeOver = statement((db, { organizationId, kind, by, key, now }: Scope & { readonly now: Instant }) =>
  db
    .deleteFrom("bulk_actions")
    .where("organization_id", "=", organizationId)
    .where("by_kind", "=", kind)
    .where("by_id", "=", by)
    .where("idempotency_key", "=", key)
    .where("expires_at", "<=", now),
)

const partAt = statement((db, { id, position }: { readonly id: string; readonly position: number }) =>
  db
    .selectFrom("bulk_action_parts")
    .select(["workspace_ids", "results"])
    .where("bulk_action_id", "=", id)
    .where("position", "=", position),
)

const writeResults = statement(
  (db, { id, position, results }: { readonly id: string; readonly position: number; readonly results: string }) =>
    db
      .updateTable("bulk_action_parts")
      .set({ results })
      .where("bulk_action_id", "=", id)
      .where("position", "=", position),
)

const forget = statement((db, { now, limit }: { readonly now: Instant; readonly limit: number }) =>
  db
    .deleteFrom("bulk_actions")
    .where(
      "id",
      "in",
      db.selectFrom("bulk_actions").select("id").where("expires_at", "<=", now).orderBy("expires_at").limit(limit),
    ),
)

import { type RawBuilder, sql } from "kysely"
import type { WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Visibility } from "../../../workspaces/workspace/workspace-query.ts"
import type { RemoteStateConsumerRepository } from "../../../workspaces/state/remote-state-consumers.ts"
import { among } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import { visible } from "../../sql/visible-workspaces.ts"

/** Pairs of one insert. Both databases limit the number of parameters of a statement. */
const rowsPerInsert = 1_000

export class SqlRemoteStateConsumerRepository implements RemoteStateConsumerRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  listed(workspaceId: WorkspaceId, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>> {
    const onTheList = sql<boolean>`w.id in (
      select consumer_id from remote_state_consumers where workspace_id = ${workspaceId}
    )`
    return this.#visible(onTheList, visibility, page)
  }

  others(workspaceId: WorkspaceId, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>> {
    return this.#visible(sql<boolean>`w.id <> ${workspaceId}`, visibility, page)
  }

  async add(workspaceId: WorkspaceId, consumerIds: readonly WorkspaceId[]): Promise<void> {
    for (let start = 0; start < consumerIds.length; start += rowsPerInsert) {
      const rows = consumerIds
        .slice(start, start + rowsPerInsert)
        .map((consumerId) => ({ workspace_id: workspaceId, consumer_id: consumerId }))
      const insert = this.#session.db.insertInto("remote_state_consumers").values(rows)
      await this.#session.execute(insert.onConflict((conflict) => conflict.doNothing()))
    }
  }

  async remove(workspaceId: WorkspaceId, consumerIds: readonly WorkspaceId[]): Promise<void> {
    await this.#session.execute(removeThese, { workspaceId, consumerIds })
  }

  async clear(workspaceId: WorkspaceId): Promise<void> {
    await this.#session.execute(removeAll, { workspaceId })
  }

  #visible(condition: RawBuilder<boolean>, visibility: Visibility, page: PageRequest): Promise<Page<WorkspaceId>> {
    const { db, dialect } = this.#session
    const query = db
      .selectFrom("workspaces as w")
      .select("w.id")
      .where(visible(dialect, visibility))
      .where(condition)
      .orderBy("w.name_folded")
    return selectPage(this.#session, query, page, ({ id }) => id as WorkspaceId)
  }
}

const removeThese = statement(
  (db, { workspaceId, consumerIds }: { workspaceId: string; consumerIds: readonly string[] }, dialect) =>
    db
      .deleteFrom("remote_state_consumers")
      .where("workspace_id", "=", workspaceId)
      .where(among(dialect, sql.ref("consumer_id"), consumerIds)),
)
const removeAll = statement((db, { workspaceId }: { workspaceId: string }) =>
  db.deleteFrom("remote_state_consumers").where("workspace_id", "=", workspaceId),
)

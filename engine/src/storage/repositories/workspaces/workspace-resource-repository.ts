import { sql } from "kysely"
import type { StateVersionId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Instant } from "../../../core/time.ts"
import type {
  FoundResource,
  KnownResource,
  WorkspaceResource,
  WorkspaceResourceId,
  WorkspaceResourceRepository,
} from "../../../workspaces/state/workspace-resource.ts"
import { among } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { WorkspaceResourceRow } from "../../schema/tables.ts"

export class SqlWorkspaceResourceRepository implements WorkspaceResourceRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async listedFrom(workspaceId: WorkspaceId): Promise<StateVersionId | undefined> {
    const row = await this.#session.queryOne(listing, { workspaceId })
    return row?.state_version_id as StateVersionId | undefined
  }

  known(workspaceId: WorkspaceId): Promise<readonly KnownResource[]> {
    return this.#session.queryMany(knownOf, { workspaceId })
  }

  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<WorkspaceResource>> {
    const query = this.#session.db
      .selectFrom("workspace_resources")
      .select(columns)
      .where("workspace_id", "=", workspaceId)
      .orderBy("address")
    return selectPage(this.#session, query, page, resourceOf)
  }

  async put(
    workspaceId: WorkspaceId,
    resource: FoundResource & { readonly id: WorkspaceResourceId },
    { at, stateVersionId }: { readonly at: Instant; readonly stateVersionId: StateVersionId },
  ): Promise<void> {
    const changed = {
      name: resource.name,
      module: resource.module,
      provider: resource.provider,
      provider_type: resource.providerType,
      name_index: resource.nameIndex,
      digest: resource.digest,
      updated_at: at,
      state_version_id: stateVersionId,
    }
    const row = { ...changed, id: resource.id, workspace_id: workspaceId, address: resource.address, created_at: at }
    await this.#session.execute(
      this.#session.db
        .insertInto("workspace_resources")
        .values(row)
        .onConflict((conflict) => conflict.columns(["workspace_id", "address"]).doUpdateSet(changed)),
    )
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#session.execute(removeAmong, { ids })
  }

  async setListedFrom(workspaceId: WorkspaceId, stateVersionId: StateVersionId): Promise<void> {
    const listed = { state_version_id: stateVersionId }
    await this.#session.execute(
      this.#session.db
        .insertInto("workspace_resource_listings")
        .values({ ...listed, workspace_id: workspaceId })
        .onConflict((conflict) => conflict.column("workspace_id").doUpdateSet(listed)),
    )
  }
}

const columns = [
  "id",
  "address",
  "name",
  "module",
  "provider",
  "provider_type",
  "name_index",
  "created_at",
  "updated_at",
  "state_version_id",
] as const satisfies readonly (keyof WorkspaceResourceRow)[]

const listing = statement((db, { workspaceId }: { workspaceId: string }) =>
  db.selectFrom("workspace_resource_listings").select("state_version_id").where("workspace_id", "=", workspaceId),
)
const knownOf = statement((db, { workspaceId }: { workspaceId: string }) =>
  db.selectFrom("workspace_resources").select(["id", "address", "digest"]).where("workspace_id", "=", workspaceId),
)
const removeAmong = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db.deleteFrom("workspace_resources").where(among(dialect, sql.ref("id"), ids)),
)

const resourceOf = (row: Pick<WorkspaceResourceRow, (typeof columns)[number]>): WorkspaceResource => ({
  id: row.id,
  address: row.address,
  name: row.name,
  module: row.module,
  provider: row.provider,
  providerType: row.provider_type,
  nameIndex: row.name_index,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  stateVersionId: row.state_version_id as StateVersionId,
})

import { sql } from "kysely"
import type { ConfigurationVersionId, OrganizationId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Instant } from "../../../core/time.ts"
import type {
  ConfigurationVersion,
  ConfigurationVersionStatus,
  IngressAttributes,
} from "../../../workspaces/configuration-versions/configuration-version.ts"
import type { ConfigurationVersionRepository } from "../../../workspaces/configuration-versions/configuration-version-repository.ts"
import type { Actor } from "../../../workspaces/workspace/workspace.ts"
import { among } from "../../sql/dialect.ts"
import { anyDeletingPolicy, isOlderThanKept, policiesOf } from "./retention-policy-repository.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { ConfigurationVersionRow } from "../../schema/tables.ts"

export class SqlConfigurationVersionRepository implements ConfigurationVersionRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<ConfigurationVersion | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && versionOf(row)
  }

  async findMany(ids: readonly string[]): Promise<readonly ConfigurationVersion[]> {
    return ids.length === 0 ? [] : (await this.#session.queryMany(byIds, { ids })).map(versionOf)
  }

  async findByIngress(ingressAttributesId: string): Promise<ConfigurationVersion | undefined> {
    const row = await this.#session.queryOne(byIngress, { ingressAttributesId })
    return row && versionOf(row)
  }

  list(workspaceId: WorkspaceId, page: PageRequest): Promise<Page<ConfigurationVersion>> {
    const query = this.#session.db
      .selectFrom("configuration_versions")
      .select(columns)
      .where("workspace_id", "=", workspaceId)
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
    return selectPage(this.#session, query, page, versionOf)
  }

  async insert(version: ConfigurationVersion): Promise<void> {
    await this.#session.execute(this.#session.db.insertInto("configuration_versions").values(rowOf(version)))
  }

  async save(version: ConfigurationVersion): Promise<void> {
    const { status, readme, readme_id, content_digest } = rowOf(version)
    await this.#session.execute(
      this.#session.db
        .updateTable("configuration_versions")
        .set({ status, readme, readme_id, content_digest })
        .where("id", "=", version.id),
    )
  }

  async content(id: ConfigurationVersionId): Promise<readonly Uint8Array[]> {
    return (await this.#session.queryMany(contentOf, { id })).map(({ sealed }) => sealed)
  }

  async saveContent(id: ConfigurationVersionId, chunks: readonly Uint8Array[]): Promise<void> {
    const { db } = this.#session
    await this.#session.execute(db.deleteFrom("configuration_contents").where("configuration_version_id", "=", id))
    for (const [chunk, sealed] of chunks.entries())
      await this.#session.execute(
        db.insertInto("configuration_contents").values({ configuration_version_id: id, chunk, sealed }),
      )
  }

  async givenUp(now: Instant, limit: number): Promise<readonly ConfigurationVersionId[]> {
    if ((await this.#session.queryOne(anyDeletingPolicy, {})) === undefined) return []
    const rows = await this.#session.queryMany(sql<{ id: string }>`
      select v.id from configuration_versions v
      join workspaces w on w.id = v.workspace_id
      ${policiesOf}
      where v.status in ('uploaded', 'backing_data_soft_deleted')
        and ${isOlderThanKept(now)}
        and v.id <> coalesce(w.current_configuration_version_id, '')
        and not exists (select 1 from runs r
          where r.organization_id = v.organization_id and r.finished_at is null and r.configuration_version_id = v.id)
      limit ${limit}`)
    return rows.map(({ id }) => id as ConfigurationVersionId)
  }

  async removeContents(ids: readonly ConfigurationVersionId[]): Promise<void> {
    const { db, dialect } = this.#session
    await this.#session.execute(
      db
        .updateTable("configuration_versions")
        .set({ status: "backing_data_permanently_deleted" })
        .where(among(dialect, sql.ref("id"), ids)),
    )
    await this.#session.execute(
      db.deleteFrom("configuration_contents").where(among(dialect, sql.ref("configuration_version_id"), ids)),
    )
  }

  async remove(id: ConfigurationVersionId): Promise<void> {
    const { db } = this.#session
    const version = await this.find(id)
    if (version === undefined) return
    await this.#session.execute(
      db
        .updateTable("runs")
        .set({ configuration_version_id: null })
        .where("workspace_id", "=", version.workspaceId)
        .where("configuration_version_id", "=", id),
    )
    await this.#session.execute(db.deleteFrom("configuration_versions").where("id", "=", id))
  }
}

const columns = [
  "id",
  "workspace_id",
  "organization_id",
  "source",
  "status",
  "speculative",
  "provisional",
  "auto_queue_runs",
  "error",
  "error_message",
  "created_at",
  "ingress_attributes_id",
  "ingress_attributes",
  "readme_id",
  "readme",
  "created_by_kind",
  "created_by_id",
  "content_digest",
] as const satisfies readonly (keyof ConfigurationVersionRow)[]

const byId = statement((db, { id }: { id: string }) =>
  db.selectFrom("configuration_versions").select(columns).where("id", "=", id),
)
const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("configuration_versions")
    .select(columns)
    .where(among(dialect, sql.ref("id"), ids)),
)
const byIngress = statement((db, { ingressAttributesId }: { ingressAttributesId: string }) =>
  db.selectFrom("configuration_versions").select(columns).where("ingress_attributes_id", "=", ingressAttributesId),
)

const contentOf = statement((db, { id }: { id: string }) =>
  db.selectFrom("configuration_contents").select("sealed").where("configuration_version_id", "=", id).orderBy("chunk"),
)

function versionOf(row: ConfigurationVersionRow): ConfigurationVersion {
  return {
    id: row.id as ConfigurationVersionId,
    workspaceId: row.workspace_id as WorkspaceId,
    organizationId: row.organization_id as OrganizationId,
    source: row.source,
    status: row.status as ConfigurationVersionStatus,
    speculative: row.speculative === 1,
    provisional: row.provisional === 1,
    autoQueueRuns: row.auto_queue_runs === 1,
    error: row.error,
    errorMessage: row.error_message,
    createdAt: row.created_at,
    ingress: ingressOf(row),
    readme: row.readme_id === null ? null : { id: row.readme_id, markdown: row.readme ?? "" },
    createdBy:
      row.created_by_kind === null ? null : { kind: row.created_by_kind as Actor["kind"], id: row.created_by_id ?? "" },
    contentDigest: row.content_digest,
  }
}

const ingressOf = (row: ConfigurationVersionRow): ConfigurationVersion["ingress"] =>
  row.ingress_attributes_id === null
    ? null
    : {
        id: row.ingress_attributes_id,
        attributes: JSON.parse(row.ingress_attributes ?? "{}") as IngressAttributes,
      }

function rowOf(version: ConfigurationVersion): ConfigurationVersionRow {
  return {
    id: version.id,
    workspace_id: version.workspaceId,
    organization_id: version.organizationId,
    source: version.source,
    status: version.status,
    speculative: version.speculative ? 1 : 0,
    provisional: version.provisional ? 1 : 0,
    auto_queue_runs: version.autoQueueRuns ? 1 : 0,
    error: version.error,
    error_message: version.errorMessage,
    created_at: version.createdAt,
    ingress_attributes_id: version.ingress?.id ?? null,
    ingress_attributes: version.ingress && JSON.stringify(version.ingress.attributes),
    readme_id: version.readme?.id ?? null,
    readme: version.readme?.markdown ?? null,
    created_by_kind: version.createdBy?.kind ?? null,
    created_by_id: version.createdBy?.id ?? null,
    content_digest: version.contentDigest,
  }
}

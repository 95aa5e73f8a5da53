import { sql } from "kysely"
import type { OrganizationId, ProjectId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Sealer } from "../../../core/sealing.ts"
import { foldName } from "../../../organizations/organization.ts"
import type {
  AppInstallation,
  AppInstallationQuery,
  OauthClient,
  OauthToken,
  ServiceProvider,
  VcsConnectionRepository,
} from "../../../organizations/vcs-connection.ts"
import { among } from "../../sql/dialect.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { selectPage } from "../../sql/select-page.ts"
import { OutdatedSnapshot, ReferenceViolation, type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { AppInstallationRow, OauthClientRow, OauthTokenRow } from "../../schema/tables.ts"

export class SqlVcsConnectionRepository implements VcsConnectionRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async findClient(id: string): Promise<OauthClient | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("oauth_clients").select(clientColumns).where("id", "=", id),
    )
    return row && clientOf(row)
  }

  listClients(organizationId: OrganizationId, page: PageRequest): Promise<Page<OauthClient>> {
    const query = this.#session.db
      .selectFrom("oauth_clients")
      .select(clientColumns)
      .where("organization_id", "=", organizationId)
      .orderBy("created_at")
      .orderBy("id")
    return selectPage(this.#session, query, page, clientOf)
  }

  async tokenIdsOf(clientIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("oauth_tokens")
        .select(["id", "oauth_client_id"])
        .where(among(this.#session.dialect, sql.ref("oauth_client_id"), clientIds))
        .orderBy("created_at")
        .orderBy("id"),
    )
    const ids = new Map<string, string[]>(clientIds.map((id) => [id, []]))
    for (const { id, oauth_client_id } of rows) ids.get(oauth_client_id)?.push(id)
    return ids
  }

  async projectIdsOf(clientIds: readonly string[]): Promise<ReadonlyMap<string, readonly ProjectId[]>> {
    const ids = new Map<string, ProjectId[]>(clientIds.map((id) => [id, []]))
    if (clientIds.length === 0) return ids
    for (const { oauth_client_id: id, project_id } of await this.#session.queryMany(projectsOf, { clientIds }))
      ids.get(id)?.push(project_id as ProjectId)
    return ids
  }

  async addProjects(clientId: string, projectIds: readonly ProjectId[]): Promise<void> {
    if (projectIds.length === 0) return
    const insert = this.#session.db
      .insertInto("oauth_client_projects")
      .values(projectIds.map((projectId) => ({ oauth_client_id: clientId, project_id: projectId })))
      .onConflict((known) => known.doNothing())
    await orOutdated(() => this.#session.execute(insert))
  }

  async removeProjects(clientId: string, projectIds: readonly ProjectId[]): Promise<void> {
    if (projectIds.length === 0) return
    const { db, dialect } = this.#session
    await this.#session.execute(
      db
        .deleteFrom("oauth_client_projects")
        .where("oauth_client_id", "=", clientId)
        .where(among(dialect, sql.ref("project_id"), projectIds)),
    )
  }

  async admits(tokenId: string, projectId: ProjectId): Promise<boolean> {
    return (await this.#session.queryOne(admitting, { tokenId, projectId })) !== undefined
  }

  async insertClient(client: OauthClient): Promise<void> {
    const insert = this.#session.db.insertInto("oauth_clients").values({
      id: client.id,
      organization_id: client.organizationId,
      name: client.name,
      service_provider: client.serviceProvider,
      http_url: client.httpUrl,
      api_url: client.apiUrl,
      consumer_key: client.key,
      rsa_public_key: client.rsaPublicKey,
      secret_sealed: null,
      organization_scoped: client.organizationScoped ? 1 : 0,
      agent_pool_id: client.agentPoolId,
      created_at: client.createdAt,
    })
    await orOutdated(() => this.#session.execute(insert))
  }

  async saveClient({ id, name, key, rsaPublicKey, organizationScoped, agentPoolId }: OauthClient): Promise<void> {
    const changed = {
      name,
      consumer_key: key,
      rsa_public_key: rsaPublicKey,
      organization_scoped: organizationScoped ? (1 as const) : (0 as const),
      agent_pool_id: agentPoolId,
    }
    const update = this.#session.db.updateTable("oauth_clients").set(changed).where("id", "=", id)
    await orOutdated(() => this.#session.execute(update))
  }

  async saveClientSecret(id: string, secret: string | null): Promise<void> {
    const secret_sealed =
      secret === null ? null : this.#sealer.seal(sealPaths.oauthClientSecret(id), Buffer.from(secret))
    await this.#session.execute(
      this.#session.db.updateTable("oauth_clients").set({ secret_sealed }).where("id", "=", id),
    )
  }

  async removeClient(id: string): Promise<void> {
    for (const tokenId of (await this.tokenIdsOf([id])).get(id) ?? []) await this.removeToken(tokenId)
    await this.#session.execute(this.#session.db.deleteFrom("oauth_clients").where("id", "=", id))
  }

  async findToken(id: string): Promise<OauthToken | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("oauth_tokens").select(tokenColumns).where("id", "=", id),
    )
    return row && tokenOf(row)
  }

  listTokens(organizationId: OrganizationId, page: PageRequest): Promise<Page<OauthToken>> {
    const query = this.#session.db
      .selectFrom("oauth_tokens")
      .select(tokenColumns)
      .where("organization_id", "=", organizationId)
      .orderBy("created_at")
      .orderBy("id")
    return selectPage(this.#session, query, page, tokenOf)
  }

  async insertToken(token: OauthToken, secret: string): Promise<void> {
    await this.#session.execute(
      this.#session.db.insertInto("oauth_tokens").values({
        id: token.id,
        oauth_client_id: token.oauthClientId,
        organization_id: token.organizationId,
        service_provider_user: token.serviceProviderUser,
        value_sealed: this.#sealer.seal(sealPaths.oauthToken(token.id), Buffer.from(secret)),
        ssh_key_sealed: null,
        created_at: token.createdAt,
      }),
    )
  }

  async saveTokenSshKey(tokenId: string, sshKey: string | null): Promise<void> {
    const ssh_key_sealed = sshKey && this.#sealer.seal(sealPaths.oauthTokenSshKey(tokenId), Buffer.from(sshKey))
    await this.#session.execute(
      this.#session.db
        .updateTable("oauth_tokens")
        .set({ ssh_key_sealed: ssh_key_sealed || null })
        .where("id", "=", tokenId),
    )
  }

  async saveSecret(tokenId: string, secret: string): Promise<void> {
    const value_sealed = this.#sealer.seal(sealPaths.oauthToken(tokenId), Buffer.from(secret))
    await this.#session.execute(
      this.#session.db.updateTable("oauth_tokens").set({ value_sealed }).where("id", "=", tokenId),
    )
  }

  async removeToken(id: string): Promise<void> {
    const { db } = this.#session
    await this.#session.execute(
      db.updateTable("workspaces").set({ vcs_repo: null, oauth_token_id: null }).where("oauth_token_id", "=", id),
    )
    await orOutdated(() => this.#session.execute(db.deleteFrom("oauth_tokens").where("id", "=", id)))
  }

  async findInstallation(id: string): Promise<AppInstallation | undefined> {
    const row = await this.#session.queryOne(
      this.#session.db.selectFrom("app_installations").select(installationColumns).where("id", "=", id),
    )
    return row && installationOf(row)
  }

  listInstallations(organizationId: OrganizationId, page: PageRequest): Promise<Page<AppInstallation>> {
    const query = this.#session.db
      .selectFrom("app_installations")
      .select(installationColumns)
      .where("organization_id", "=", organizationId)
      .orderBy("created_at")
      .orderBy("id")
    return selectPage(this.#session, query, page, installationOf)
  }

  listInstallationsAmong(
    organizationIds: readonly OrganizationId[] | "all",
    { name, installationId }: AppInstallationQuery,
    page: PageRequest,
  ): Promise<Page<AppInstallation & { readonly organizationName: string }>> {
    const { db, dialect } = this.#session
    let query = db
      .selectFrom("app_installations as i")
      .innerJoin("organizations as o", "o.id", "i.organization_id")
      .select(installationColumns.map((column) => `i.${column}` as const))
      .select("o.name as organization_name")
    if (organizationIds !== "all") query = query.where(among(dialect, sql.ref("i.organization_id"), organizationIds))
    // SQLite's `lower` folds only ASCII letters. Names of GitHub App installations have no others.
    if (name !== undefined) query = query.where(sql<boolean>`(i.name = ${name} or lower(i.name) = ${foldName(name)})`)
    if (installationId !== undefined) query = query.where("i.installation_id", "=", installationId)
    return selectPage(this.#session, query.orderBy("i.created_at").orderBy("i.id"), page, (row) => ({
      ...installationOf(row),
      organizationName: row.organization_name,
    }))
  }

  async insertInstallation(installation: AppInstallation): Promise<void> {
    await this.#session.execute(
      this.#session.db.insertInto("app_installations").values({
        id: installation.id,
        organization_id: installation.organizationId,
        name: installation.name,
        installation_id: installation.installationId,
        created_at: installation.createdAt,
      }),
    )
  }

  async removeInstallation(id: string): Promise<void> {
    const { db } = this.#session
    await this.#session.execute(
      db
        .updateTable("workspaces")
        .set({ vcs_repo: null, app_installation_id: null })
        .where("app_installation_id", "=", id),
    )
    await orOutdated(() => this.#session.execute(db.deleteFrom("app_installations").where("id", "=", id)))
  }
}

/** Throws `OutdatedSnapshot` if a referenced row was removed after the snapshot, or if a workspace has since begun to use this row. */
async function orOutdated(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw error instanceof ReferenceViolation ? new OutdatedSnapshot({ cause: error }) : error
  }
}

const projectsOf = statement((db, { clientIds }: { clientIds: readonly string[] }, dialect) =>
  db
    .selectFrom("oauth_client_projects as x")
    .innerJoin("projects as p", "p.id", "x.project_id")
    .select(["x.oauth_client_id", "x.project_id"])
    .where(among(dialect, sql.ref("x.oauth_client_id"), clientIds))
    .orderBy("p.name_folded"),
)

const admitting = statement((db, { tokenId, projectId }: { tokenId: string; projectId: string }) =>
  db
    .selectFrom("oauth_tokens as t")
    .innerJoin("oauth_clients as c", "c.id", "t.oauth_client_id")
    .select("t.id")
    .where("t.id", "=", tokenId)
    .where(
      sql<boolean>`(coalesce(c.organization_scoped, 1) = 1 or exists (select 1 from oauth_client_projects as x
        where x.oauth_client_id = c.id and x.project_id = ${projectId}))`,
    ),
)

const clientColumns = [
  "id",
  "organization_id",
  "name",
  "service_provider",
  "http_url",
  "api_url",
  "consumer_key",
  "rsa_public_key",
  "organization_scoped",
  "agent_pool_id",
  "created_at",
] as const satisfies readonly (keyof OauthClientRow)[]
const tokenColumns = [
  "id",
  "oauth_client_id",
  "organization_id",
  "service_provider_user",
  "ssh_key_sealed",
  "created_at",
] as const satisfies readonly (keyof OauthTokenRow)[]
const installationColumns = [
  "id",
  "organization_id",
  "name",
  "installation_id",
  "created_at",
] as const satisfies readonly (keyof AppInstallationRow)[]

const clientOf = (row: Omit<OauthClientRow, "secret_sealed">): OauthClient => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  serviceProvider: row.service_provider as ServiceProvider,
  httpUrl: row.http_url,
  apiUrl: row.api_url,
  key: row.consumer_key ?? "",
  rsaPublicKey: row.rsa_public_key ?? "",
  organizationScoped: row.organization_scoped !== 0,
  agentPoolId: row.agent_pool_id,
  createdAt: row.created_at,
})

const tokenOf = (row: Pick<OauthTokenRow, (typeof tokenColumns)[number]>): OauthToken => ({
  id: row.id,
  oauthClientId: row.oauth_client_id,
  organizationId: row.organization_id as OrganizationId,
  serviceProviderUser: row.service_provider_user,
  hasSshKey: row.ssh_key_sealed !== null,
  createdAt: row.created_at,
})

const installationOf = (row: AppInstallationRow): AppInstallation => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  installationId: row.installation_id,
  createdAt: row.created_at,
})

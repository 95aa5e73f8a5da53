import { type Kysely, sql } from "kysely"
import type { OrganizationId, TeamId, UserId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import type { Instant } from "../../../core/time.ts"
import { ownersTeamName } from "../../../organizations/authentication.ts"
import { foldName } from "../../../organizations/organization.ts"
import type { TeamTokenSortKey, Token, TokenOwner, TokenRepository } from "../../../organizations/token.ts"
import { containing } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { Tables, TokenRow } from "../../schema/tables.ts"

export class SqlTokenRepository implements TokenRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<Token | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    const owner = row && ownerOf(row)
    return owner && tokenOf(row, owner)
  }

  list(owner: TokenOwner, page: PageRequest): Promise<Page<Token>> {
    const query = ownedBy(this.#session.db, owner).orderBy("k.created_at").orderBy("k.id")
    return selectPage(this.#session, query, page, (row) => tokenOf(row, owner))
  }

  listOfTeams(
    { organizationId, withOwners, search, sort }: Parameters<TokenRepository["listOfTeams"]>[0],
    page: PageRequest,
  ): Promise<Page<Token>> {
    const { db, dialect } = this.#session
    const { key, descending } = sort ?? { key: "team-name" as const, descending: false }
    const column = sql.ref(teamTokenSortColumns[key])
    let query = rows(db)
      .innerJoin("teams as t", "t.id", "k.team_id")
      .leftJoin("users as u", "u.id", "k.created_by")
      .where("t.organization_id", "=", organizationId)
    if (!withOwners) query = query.where("t.name_folded", "<>", ownersTeamName)
    if (search !== undefined) query = query.where(containing(dialect, sql.ref("t.name_folded"), foldName(search)))
    const ordered = query
      .orderBy(sql`case when ${column} is null then 1 else 0 end`)
      .orderBy(column, descending ? "desc" : "asc")
      .orderBy("k.id")
    return selectPage(this.#session, ordered, page, (row) =>
      tokenOf(row, { kind: "team", teamId: row.team_id as TeamId }),
    )
  }

  async described(owner: TokenOwner, description: string): Promise<readonly Token[]> {
    const query = ownedBy(this.#session.db, owner).where("k.description", "=", description)
    return (await this.#session.queryMany<Row>(query)).map((row) => tokenOf(row, owner))
  }

  async insert(token: Token, hash: string): Promise<void> {
    const { owner } = token
    const row: TokenRow = {
      id: token.id,
      hash,
      kind: owner.kind,
      user_id: owner.kind === "user" ? owner.userId : null,
      team_id: owner.kind === "team" ? owner.teamId : null,
      organization_id: owner.kind === "organization" ? owner.organizationId : null,
      agent_pool_id: owner.kind === "agent-pool" ? owner.agentPoolId : null,
      description: token.description,
      created_by: token.createdBy,
      created_at: token.createdAt,
      last_used_at: token.lastUsedAt,
      expires_at: token.expiresAt,
      parent_id: null,
      uses_left: null,
      last_renewed_at: null,
      service: null,
      bound_cidrs: null,
      auth_method_id: null,
      audit_organization_id: owner.kind === "audit-trails" ? owner.organizationId : null,
    }
    await this.#session.execute(this.#session.db.insertInto("tokens").values(row))
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("tokens").where("id", "=", id))
  }

  async recordUse(id: string, at: Instant): Promise<void> {
    await this.#session.execute(recordUse, { id, at })
  }
}

const teamTokenSortColumns: Readonly<Record<TeamTokenSortKey, string>> = {
  "team-name": "t.name_folded",
  "created-by": "u.username",
  "expired-at": "k.expires_at",
  "last-used-at": "k.last_used_at",
}

type Row = Omit<
  TokenRow,
  "hash" | "kind" | "parent_id" | "uses_left" | "last_renewed_at" | "service" | "bound_cidrs" | "auth_method_id"
>

/** Selects tokens without their hash, which no caller of this repository needs. */
const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("tokens as k")
    .select([
      "k.id",
      "k.user_id",
      "k.team_id",
      "k.organization_id",
      "k.agent_pool_id",
      "k.audit_organization_id",
      "k.description",
      "k.created_by",
      "k.created_at",
      "k.last_used_at",
      "k.expires_at",
    ])

const byId = statement((db, { id }: { id: string }) => rows(db).where("k.id", "=", id))

function ownedBy(db: Kysely<Tables>, owner: TokenOwner) {
  switch (owner.kind) {
    case "user":
      return rows(db).where("k.user_id", "=", owner.userId)
    case "team":
      return rows(db).where("k.team_id", "=", owner.teamId)
    case "organization":
      return rows(db).where("k.organization_id", "=", owner.organizationId)
    case "audit-trails":
      return rows(db).where("k.audit_organization_id", "=", owner.organizationId)
    case "agent-pool":
      return rows(db).where("k.agent_pool_id", "=", owner.agentPoolId)
    default:
      return owner satisfies never
  }
}

const recordUse = statement((db, { id, at }: { id: string; at: Instant }) =>
  db
    .updateTable("tokens")
    .set({ last_used_at: at })
    .where("id", "=", id)
    .where(sql<boolean>`(last_used_at is null or last_used_at < ${at})`),
)

/** Returns undefined for a service token, which has no owner. */
function ownerOf(row: Row): TokenOwner | undefined {
  if (row.user_id !== null) return { kind: "user", userId: row.user_id as UserId }
  if (row.team_id !== null) return { kind: "team", teamId: row.team_id as TeamId }
  if (row.organization_id !== null)
    return { kind: "organization", organizationId: row.organization_id as OrganizationId }
  if (row.audit_organization_id !== null)
    return { kind: "audit-trails", organizationId: row.audit_organization_id as OrganizationId }
  return row.agent_pool_id === null ? undefined : { kind: "agent-pool", agentPoolId: row.agent_pool_id }
}

const tokenOf = (row: Row, owner: TokenOwner): Token => ({
  id: row.id,
  owner,
  description: row.description,
  createdBy: row.created_by as UserId | null,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
})

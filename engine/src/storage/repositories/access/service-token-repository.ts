import { sql } from "kysely"
import type { AccessorQuery, ServiceTokenRepository } from "../../../access/service-tokens/service-token-repository.ts"
import type { ServiceToken } from "../../../access/service-tokens/service-token.ts"
import {
  initialTokenRole,
  type NamedTokenRole,
  type TokenRole,
  type TokenRoleRepository,
} from "../../../access/service-tokens/token-role.ts"
import type { Id } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import { SqlPolicyRepository } from "./policy-repository.ts"

export class SqlServiceTokenRepository implements ServiceTokenRepository {
  readonly #session: QueryRunner
  readonly #policies: SqlPolicyRepository

  constructor(session: QueryRunner) {
    this.#session = session
    this.#policies = new SqlPolicyRepository(session)
  }

  async find(id: string): Promise<ServiceToken | undefined> {
    const row = await this.#session.queryOne<Row>(
      this.#session.db
        .selectFrom("tokens")
        .select([
          "description",
          "parent_id",
          "created_at",
          "expires_at",
          "uses_left",
          "last_renewed_at",
          "service",
          "bound_cidrs",
          "auth_method_id",
        ])
        .where("id", "=", id)
        .where("kind", "=", "service"),
    )
    if (row?.service === undefined || row.service === null) return undefined
    return {
      ...notSaid,
      ...(JSON.parse(row.service) as MadeOf),
      id,
      displayName: row.description,
      policies: await this.#policies.attachedTo({ kind: "token", tokenId: id }),
      parentId: row.parent_id,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      usesLeft: row.uses_left,
      lastRenewedAt: row.last_renewed_at,
      boundCidrs: row.bound_cidrs === null ? [] : (JSON.parse(row.bound_cidrs) as readonly string[]),
      authMethodId: row.auth_method_id as Id<"auth"> | null,
    }
  }

  async accessors({ after, limit }: AccessorQuery, now: Instant): Promise<readonly string[]> {
    let query = this.#session.db
      .selectFrom("tokens")
      .select("id")
      // A literal: with a parameter, the database cannot use the partial index on service tokens.
      .where("kind", "=", sql.lit("service"))
      .where(sql<boolean>`(expires_at is null or expires_at > ${now})`)
      .orderBy("id")
    if (after !== undefined) query = query.where("id", ">", after)
    if (limit !== undefined) query = query.limit(limit)
    return (await this.#session.queryMany<{ id: string }>(query)).map(({ id }) => id)
  }

  async insert(token: ServiceToken, hash: string): Promise<void> {
    const { path, meta, ttlMs, explicitMaxTtlMs, periodMs, renewable, role, maxTtlMs, boundCidrs } = token
    const made: MadeOf = { path, meta, ttlMs, explicitMaxTtlMs, periodMs, renewable, role, maxTtlMs }
    await this.#session.execute(
      this.#session.db.insertInto("tokens").values({
        id: token.id,
        hash,
        kind: "service",
        user_id: null,
        team_id: null,
        organization_id: null,
        description: token.displayName,
        created_by: null,
        created_at: token.createdAt,
        last_used_at: null,
        expires_at: token.expiresAt,
        parent_id: token.parentId,
        uses_left: token.usesLeft,
        last_renewed_at: token.lastRenewedAt,
        service: JSON.stringify(made),
        bound_cidrs: boundCidrs.length === 0 ? null : JSON.stringify(boundCidrs),
        auth_method_id: token.authMethodId,
      }),
    )
    for (const name of token.policies) await this.#policies.attach(name, { kind: "token", tokenId: token.id })
  }

  async recordRenewal({ id, expiresAt, lastRenewedAt }: ServiceToken): Promise<void> {
    await this.#session.execute(
      this.#session.db
        .updateTable("tokens")
        .set({ expires_at: expiresAt, last_renewed_at: lastRenewedAt })
        .where("id", "=", id),
    )
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("tokens").where("id", "=", id))
  }

  async removeMadeAt(
    path: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<string | undefined> {
    const rows = await this.#session.queryMany<Pick<Row, "service"> & { readonly id: string }>(
      this.#session.db
        .selectFrom("tokens")
        .select(["id", "service"])
        .where("kind", "=", "service")
        .where("id", ">", after)
        .orderBy("id")
        .limit(limit),
    )
    const isThere = ({ service }: Pick<Row, "service">) => {
      const made = service === null ? undefined : (JSON.parse(service) as MadeOf).path
      return made === path || made?.startsWith(`${path}/`) === true
    }
    const ids = rows.filter(isThere).map(({ id }) => id)
    if (ids.length > 0) await this.#session.execute(this.#session.db.deleteFrom("tokens").where("id", "in", ids))
    return rows.length < limit ? undefined : rows.at(-1)?.id
  }

  async orphanChildren(id: string): Promise<void> {
    await this.#session.execute(
      this.#session.db.updateTable("tokens").set({ parent_id: null }).where("parent_id", "=", id),
    )
  }

  sweep(now: Instant, limit: number): Promise<number> {
    const ended = this.#session.db
      .selectFrom("tokens")
      .select("id")
      .where("kind", "=", sql<string>`'service'`)
      .where("expires_at", "<=", now)
      .orderBy("expires_at")
      .limit(limit)
    return this.#session.execute(this.#session.db.deleteFrom("tokens").where("id", "in", ended))
  }
}

/** Members that do not change after creation, stored as JSON. */
type MadeOf = Pick<
  ServiceToken,
  "path" | "meta" | "ttlMs" | "explicitMaxTtlMs" | "periodMs" | "renewable" | "role" | "maxTtlMs"
>

/** Values of members that tokens of earlier releases lack. */
const notSaid = { role: null, maxTtlMs: null }

interface Row {
  readonly description: string
  readonly parent_id: string | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly uses_left: number | null
  readonly last_renewed_at: number | null
  readonly service: string | null
  readonly bound_cidrs: string | null
  readonly auth_method_id: string | null
}

export class SqlTokenRoleRepository implements TokenRoleRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async names(page: { readonly after: string; readonly limit: number }): Promise<readonly string[]> {
    return (await this.#session.queryMany(namesBehind, page)).map(({ name }) => name)
  }

  async find(name: string): Promise<TokenRole | undefined> {
    const row = await this.#session.queryOne(byName, { name })
    return row && { ...initialTokenRole, ...(JSON.parse(row.definition) as Partial<TokenRole>) }
  }

  async save({ name, role }: NamedTokenRole): Promise<void> {
    await this.#session.execute(saveRole, { name, definition: JSON.stringify(role) })
  }

  async remove(name: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("token_roles").where("name", "=", name))
  }
}

const namesBehind = statement((db, { after, limit }: { after: string; limit: number }) =>
  db.selectFrom("token_roles").select("name").where("name", ">", after).orderBy("name").limit(limit),
)
const byName = statement((db, { name }: { name: string }) =>
  db.selectFrom("token_roles").select("definition").where("name", "=", name),
)
const saveRole = statement((db, { name, definition }: { name: string; definition: string }) =>
  db
    .insertInto("token_roles")
    .values({ name, definition })
    .onConflict((known) => known.column("name").doUpdateSet({ definition })),
)

import { sql } from "kysely"
import type { PathRule } from "../../../core/access.ts"
import {
  type Membership,
  noOrganizationAccess,
  type OrganizationAccess,
  organizationPermissions,
  ownerMembership,
} from "../../../core/caller.ts"
import { busy } from "../../../core/errors.ts"
import type { OrganizationId, TeamId, UserId } from "../../../core/ids.ts"
import type { Instant } from "../../../core/time.ts"
import {
  type AttachedPolicy,
  type IdentityRepository,
  ownersTeamName,
  type TokenRecord,
} from "../../../organizations/authentication.ts"
import type { EntityId, EntityNameRepository, NamedEntity } from "../../../organizations/entity-name.ts"
import { foldName } from "../../../organizations/organization.ts"
import type { EntityNameRow, TokenRow } from "../../schema/tables.ts"
import { bumpCacheVersion, identityFamily, readCacheVersion } from "../../sql/cache-versions.ts"
import { among } from "../../sql/dialect.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

/** Attempts to find a free numbered name: `alice-2` may itself be a username. */
const maxAttempts = 64

export class SqlEntityNameRepository implements EntityNameRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(ids: readonly EntityId[]): Promise<ReadonlyMap<EntityId, string>> {
    if (ids.length === 0) return new Map()
    const rows = await this.#session.queryMany(byIds, { ids })
    return new Map(rows.map(({ entity_id: id, name }) => [id as EntityId, name]))
  }

  async fix({ id, name }: NamedEntity): Promise<string> {
    const fixed = (await this.find([id])).get(id)
    if (fixed !== undefined) return fixed
    const base = foldName(name)
    const first = ((await this.#session.queryOne(lastNumber, { base }))?.number ?? 0) + 1
    for (let number = first; number < first + maxAttempts; number += 1) {
      const candidate = number === 1 ? name : `${name}-${number}`
      const row = { name_folded: foldName(candidate), name: candidate, entity_id: id, base_folded: base, number }
      if ((await this.#session.execute(insertNew, row)) > 0) return candidate
      // The id or the name is taken. Another server may have named the entity concurrently.
      const named = (await this.find([id])).get(id)
      if (named !== undefined) return named
    }
    throw busy("Many names for role templates are being assigned at once; try again.")
  }
}

const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  db
    .selectFrom("entity_names")
    .select(["entity_id", "name"])
    .where(among(dialect, sql.ref("entity_id"), ids)),
)

const lastNumber = statement((db, { base }: { base: string }) =>
  db.selectFrom("entity_names").select("number").where("base_folded", "=", base).orderBy("number", "desc").limit(1),
)

const insertNew = statement((db, { name_folded, name, entity_id, base_folded, number }: EntityNameRow) =>
  db
    .insertInto("entity_names")
    .values({ name_folded, name, entity_id, base_folded, number })
    .onConflict((taken) => taken.doNothing()),
)

export class SqlIdentityRepository implements IdentityRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async cacheVersion(): Promise<number> {
    return readCacheVersion(this.#session, identityFamily)
  }

  async bumpCacheVersion(): Promise<void> {
    await bumpCacheVersion(this.#session, identityFamily)
  }

  async ensureAdministrator(user: {
    readonly id: UserId
    readonly username: string
    readonly now: Instant
  }): Promise<UserId> {
    const found = await this.#session.queryOne(userByName, { username: user.username })
    // Clients treat an account without an email address as broken.
    const isFree = (await this.#session.queryOne(userByEmail, { email: rootEmail })) === undefined
    const address = isFree ? { email: rootEmail, email_folded: rootEmail } : { email: "", email_folded: null }
    if (found !== undefined) {
      if (found.email === "" && isFree)
        await this.#session.execute(this.#session.db.updateTable("users").set(address).where("id", "=", found.id))
      return found.id as UserId
    }
    await this.#session.execute(
      this.#session.db.insertInto("users").values({
        id: user.id,
        username: user.username,
        username_folded: user.username,
        ...address,
        site_admin: 1,
        service_account: 0,
        invited: 0,
        created_at: user.now,
      }),
    )
    await new SqlEntityNameRepository(this.#session).fix({ id: user.id, name: user.username })
    return user.id
  }

  async findToken(hash: string): Promise<TokenRecord | undefined> {
    const row = await this.#session.queryOne(tokenByHash, { hash })
    return row && recordOf(row)
  }

  async findTokenById(id: string): Promise<TokenRecord | undefined> {
    const row = await this.#session.queryOne(tokenById, { id })
    return row && recordOf(row)
  }

  async spendUse(tokenId: string, now: Instant): Promise<boolean> {
    return (await this.#session.execute(spendUse, { id: tokenId, now })) === 1
  }

  async policiesOf({ id, owner }: TokenRecord): Promise<readonly AttachedPolicy[]> {
    const userId = owner.kind === "user" ? owner.userId : null
    const teamId = owner.kind === "team" ? owner.teamId : null
    const rows = await this.#session.queryMany(policiesHeld, { tokenId: id, userId, teamId })
    return rows.map(({ name, rules }) => ({ name, rules: JSON.parse(rules) as readonly PathRule[] }))
  }

  async findUser(
    id: UserId,
  ): Promise<{ readonly id: UserId; readonly username: string; readonly siteAdmin: boolean } | undefined> {
    const row = await this.#session.queryOne(userById, { id })
    return row && { id, username: row.username, siteAdmin: row.site_admin === 1 }
  }

  async membershipsOfUser(id: UserId): Promise<ReadonlyMap<OrganizationId, Membership>> {
    const memberships = new Map<OrganizationId, Membership>()
    for (const { organization_id } of await this.#session.queryMany(organizationsOfUser, { id }))
      memberships.set(organization_id as OrganizationId, { owner: false, teams: [], access: noOrganizationAccess })
    for (const team of await this.#session.queryMany(teamsOfUser, { id })) {
      const organizationId = team.organization_id as OrganizationId
      memberships.set(organizationId, joined(memberships.get(organizationId), team))
    }
    return memberships
  }

  async membershipOfTeam(
    id: TeamId,
  ): Promise<
    { readonly name: string; readonly organizationId: OrganizationId; readonly membership: Membership } | undefined
  > {
    const team = await this.#session.queryOne(teamById, { id })
    if (team === undefined) return undefined
    const membership: Membership = { ...joined(undefined, team), isTeamToken: true }
    return { name: team.name, organizationId: team.organization_id as OrganizationId, membership }
  }

  async organizationOfAgentPool(id: string): Promise<OrganizationId | undefined> {
    const pool = await this.#session.queryOne(organizationOfPool, { id })
    return pool && (pool.organization_id as OrganizationId)
  }
}

/** Email address of the root user. It receives no mail, and can be changed in the account. */
const rootEmail = "root@localhost"

interface TeamFacts {
  readonly id: string
  readonly name_folded: string
  readonly access: string
}

function joined(membership: Membership | undefined, team: TeamFacts): Membership {
  const granted = JSON.parse(team.access) as Partial<OrganizationAccess>
  const owner = team.name_folded === ownersTeamName || membership?.owner === true
  const access = Object.fromEntries(
    organizationPermissions.map((name) => [name, owner || granted[name] === true || membership?.access[name] === true]),
  ) as unknown as OrganizationAccess
  const teams = [...(membership?.teams ?? []), team.id as TeamId]
  return owner ? { ...ownerMembership, teams } : { owner, teams, access }
}

function ownerOf(
  row: Pick<TokenRow, "kind" | "user_id" | "team_id" | "organization_id" | "agent_pool_id">,
): TokenRecord["owner"] {
  if (row.user_id !== null) return { kind: "user", userId: row.user_id as UserId }
  if (row.team_id !== null) return { kind: "team", teamId: row.team_id as TeamId }
  if (row.organization_id !== null)
    return { kind: "organization", organizationId: row.organization_id as OrganizationId }
  if (row.agent_pool_id !== null) return { kind: "agent-pool", agentPoolId: row.agent_pool_id }
  return { kind: "service" }
}

const recordOf = (row: RecordRow): TokenRecord => ({
  id: row.id,
  owner: ownerOf(row),
  expiresAt: row.expires_at,
  lastUsedAt: row.last_used_at,
  parentId: row.parent_id,
  limitedUses: row.uses_left !== null,
  boundCidrs: row.bound_cidrs === null ? [] : (JSON.parse(row.bound_cidrs) as readonly string[]),
})

type RecordRow = Pick<TokenRow, (typeof recordColumns)[number]>
const recordColumns = [
  "id",
  "kind",
  "user_id",
  "team_id",
  "organization_id",
  "agent_pool_id",
  "expires_at",
  "last_used_at",
  "parent_id",
  "uses_left",
  "bound_cidrs",
] as const
const tokenByHash = statement((db, { hash }: { hash: string }) =>
  db.selectFrom("tokens").select(recordColumns).where("hash", "=", hash),
)
const tokenById = statement((db, { id }: { id: string }) =>
  db.selectFrom("tokens").select(recordColumns).where("id", "=", id),
)
/** Spends one use. The last use sets the expiry, so that the token is swept like any expired one. */
const spendUse = statement((db, { id, now }: { id: string; now: Instant }) =>
  db
    .updateTable("tokens")
    .set({
      uses_left: sql<number>`uses_left - 1`,
      expires_at: sql<number | null>`case when uses_left = 1 then ${now} else expires_at end`,
    })
    .where("id", "=", id)
    .where("uses_left", ">", 0),
)
/**
 * Selects the policies of a token, or of a user with its teams, or of a team. A null id matches nothing, and every attachment has one id.
 */
const policiesHeld = statement(
  (db, { tokenId, userId, teamId }: { tokenId: string; userId: string | null; teamId: string | null }) => {
    const attached = () =>
      db
        .selectFrom("policy_attachments as a")
        .innerJoin("policies as p", "p.name", "a.policy_name")
        .select(["p.name", "p.rules"])
    return attached()
      .where("a.token_id", "=", tokenId)
      .union(attached().where("a.user_id", "=", userId))
      .union(attached().where("a.team_id", "=", teamId))
      .union(attached().innerJoin("team_members as m", "m.team_id", "a.team_id").where("m.user_id", "=", userId))
  },
)
const userByName = statement((db, { username }: { username: string }) =>
  db.selectFrom("users").select(["id", "email"]).where("username_folded", "=", username),
)
const userByEmail = statement((db, { email }: { email: string }) =>
  db.selectFrom("users").select("id").where("email_folded", "=", email),
)
const organizationOfPool = statement((db, { id }: { id: string }) =>
  db.selectFrom("agent_pools").select("organization_id").where("id", "=", id),
)
const userById = statement((db, { id }: { id: string }) =>
  db.selectFrom("users").select(["username", "site_admin"]).where("id", "=", id),
)
const organizationsOfUser = statement((db, { id }: { id: string }) =>
  db
    .selectFrom("organization_memberships")
    .select("organization_id")
    .where("user_id", "=", id)
    .where("status", "=", "active"),
)
const teamsOfUser = statement((db, { id }: { id: string }) =>
  db
    .selectFrom("team_members as m")
    .innerJoin("teams as t", "t.id", "m.team_id")
    .select(["t.id", "t.organization_id", "t.name_folded", "t.access"])
    .where("m.user_id", "=", id)
    .orderBy("t.id"),
)
const teamById = statement((db, { id }: { id: string }) =>
  db.selectFrom("teams").select(["id", "organization_id", "name", "name_folded", "access"]).where("id", "=", id),
)

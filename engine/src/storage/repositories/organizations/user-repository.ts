import { type Kysely, sql } from "kysely"
import type { OrganizationId, UserId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import { foldName } from "../../../organizations/organization.ts"
import type { User, UserRepository } from "../../../organizations/user.ts"
import { among, containing } from "../../sql/dialect.ts"
import { SqlEntityNameRepository } from "./identity-repository.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { Tables, UserRow } from "../../schema/tables.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlUserRepository implements UserRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: UserId): Promise<User | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && userOf(row)
  }

  async findByUsername(username: string): Promise<User | undefined> {
    const row = await this.#session.queryOne(byUsername, { username: foldName(username) })
    return row && userOf(row)
  }

  async findByEmail(email: string): Promise<User | undefined> {
    const row = await this.#session.queryOne(byEmail, { email: foldName(email) })
    return row && userOf(row)
  }

  async findMany(ids: readonly UserId[]): Promise<readonly User[]> {
    return ids.length === 0 ? [] : (await this.#session.queryMany(byIds, { ids })).map(userOf)
  }

  list(search: string | undefined, page: PageRequest): Promise<Page<User>> {
    const { db, dialect } = this.#session
    let query = rows(db).orderBy("u.username_folded")
    if (search !== undefined)
      query = query.where((where) =>
        where.or([
          containing(dialect, sql.ref("u.username_folded"), foldName(search)),
          containing(dialect, sql.ref("u.email_folded"), foldName(search)),
        ]),
      )
    return selectPage(this.#session, query, page, userOf)
  }

  async shareOrganization(id: UserId, organizationIds: readonly OrganizationId[]): Promise<boolean> {
    return (await this.#session.queryOne(membershipAmong, { id, organizationIds })) !== undefined
  }

  async insert(user: User): Promise<void> {
    const row: UserRow = { id: user.id, created_at: user.createdAt, ...settingsOf(user) }
    await rejectTaken(() => this.#session.execute(this.#session.db.insertInto("users").values(row)), taken)
    await new SqlEntityNameRepository(this.#session).fix({ id: user.id, name: user.username })
  }

  async save(user: User): Promise<void> {
    await this.#fixName(user.id)
    const update = this.#session.db.updateTable("users").set(settingsOf(user)).where("id", "=", user.id)
    await rejectTaken(() => this.#session.execute(update), taken)
  }

  async remove(id: UserId): Promise<void> {
    await this.#fixName(id)
    await this.#session.execute(this.#session.db.deleteFrom("users").where("id", "=", id))
  }

  /** Assigns the entity name before the username changes. A server of an earlier release may have created the user without one. */
  async #fixName(id: UserId): Promise<void> {
    const before = await this.find(id)
    if (before !== undefined) await new SqlEntityNameRepository(this.#session).fix({ id, name: before.username })
  }
}

const taken = {
  username: { field: ["username"], detail: "Username has already been taken" },
  email: { field: ["email"], detail: "Email has already been taken" },
}

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("users as u")
    .select(["u.id", "u.username", "u.email", "u.site_admin", "u.service_account", "u.invited", "u.created_at"])

const byId = statement((db, { id }: { id: string }) => rows(db).where("u.id", "=", id))
const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  rows(db).where(among(dialect, sql.ref("u.id"), ids)),
)
const byUsername = statement((db, { username }: { username: string }) =>
  rows(db).where("u.username_folded", "=", username),
)
const byEmail = statement((db, { email }: { email: string }) => rows(db).where("u.email_folded", "=", email))
const membershipAmong = statement(
  (db, { id, organizationIds }: { id: string; organizationIds: readonly string[] }, dialect) =>
    db
      .selectFrom("organization_memberships")
      .select("id")
      .where("user_id", "=", id)
      .where(among(dialect, sql.ref("organization_id"), organizationIds)),
)

const userOf = (row: Omit<UserRow, "username_folded" | "email_folded">): User => ({
  id: row.id as UserId,
  username: row.username,
  email: row.email,
  siteAdmin: row.site_admin === 1,
  serviceAccount: row.service_account === 1,
  invited: row.invited === 1,
  createdAt: row.created_at,
})

const settingsOf = (user: User) =>
  ({
    username: user.username,
    username_folded: foldName(user.username),
    email: user.email,
    // Null, because several users may have no email address.
    email_folded: user.email === "" ? null : foldName(user.email),
    site_admin: user.siteAdmin ? 1 : 0,
    service_account: user.serviceAccount ? 1 : 0,
    invited: user.invited ? 1 : 0,
  }) satisfies Partial<UserRow>

import { type Kysely, sql } from "kysely"
import type { OrganizationId, UserId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import { foldName } from "../../../organizations/organization.ts"
import type {
  OrganizationMembership,
  OrganizationMembershipQuery,
  OrganizationMembershipRepository,
} from "../../../organizations/organization-membership.ts"
import { among, containing } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import type { OrganizationMembershipRow, Tables } from "../../schema/tables.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlOrganizationMembershipRepository implements OrganizationMembershipRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<OrganizationMembership | undefined> {
    const [membership] = await this.findMany([id])
    return membership
  }

  async findMany(ids: readonly string[]): Promise<readonly OrganizationMembership[]> {
    return (await this.#session.queryMany(byIds, { ids })).map(membershipOf)
  }

  async ofUsers(
    organizationId: OrganizationId,
    userIds: readonly UserId[],
  ): Promise<readonly OrganizationMembership[]> {
    return (await this.#session.queryMany(ofUsers, { organizationId, userIds })).map(membershipOf)
  }

  list(query: OrganizationMembershipQuery, page: PageRequest): Promise<Page<OrganizationMembership>> {
    const { db, dialect } = this.#session
    const { search, emails, status } = query
    let selected = rows(db).where("m.organization_id", "=", query.organizationId).orderBy("u.username_folded")
    if (status !== undefined)
      selected = selected.where(
        sql<boolean>`case when coalesce(u.invited, 0) = 1 then 'invited' else m.status end = ${status}`,
      )
    if (emails !== undefined)
      selected = selected.where(
        among(
          dialect,
          sql.ref("u.email_folded"),
          emails.map((email) => foldName(email)),
        ),
      )
    if (search !== undefined)
      selected = selected.where((where) =>
        where.or([
          containing(dialect, sql.ref("u.username_folded"), foldName(search)),
          containing(dialect, sql.ref("u.email_folded"), foldName(search)),
        ]),
      )
    return selectPage(this.#session, selected, page, membershipOf)
  }

  async insert(membership: OrganizationMembership): Promise<void> {
    const row: OrganizationMembershipRow = {
      id: membership.id,
      organization_id: membership.organizationId,
      user_id: membership.userId,
      status: membership.status,
      created_at: membership.createdAt,
    }
    await rejectTaken(
      () => this.#session.execute(this.#session.db.insertInto("organization_memberships").values(row)),
      {
        user: { field: ["email"], detail: "User is already a member of the organization" },
      },
    )
  }

  async remove(id: string): Promise<void> {
    await this.#session.execute(this.#session.db.deleteFrom("organization_memberships").where("id", "=", id))
  }
}

const rows = (db: Kysely<Tables>) =>
  db
    .selectFrom("organization_memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select(["m.id", "m.organization_id", "m.user_id", "m.created_at"])

const byIds = statement((db, { ids }: { ids: readonly string[] }, dialect) =>
  rows(db).where(among(dialect, sql.ref("m.id"), ids)),
)
const ofUsers = statement(
  (db, { organizationId, userIds }: { organizationId: string; userIds: readonly string[] }, dialect) =>
    rows(db)
      .where("m.organization_id", "=", organizationId)
      .where(among(dialect, sql.ref("m.user_id"), userIds)),
)

const membershipOf = (row: Omit<OrganizationMembershipRow, "status">): OrganizationMembership => ({
  id: row.id,
  organizationId: row.organization_id as OrganizationId,
  userId: row.user_id as UserId,
  status: "active",
  createdAt: row.created_at,
})

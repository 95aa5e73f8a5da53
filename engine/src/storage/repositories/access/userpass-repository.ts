import { maxListedKeys, type KeyPage, limitOf } from "../../../pki/mounts/key-page.ts"
import type { AuthMethodId } from "../../../access/logins/auth-method.ts"
import { initialTokenTerms } from "../../../access/logins/token-terms.ts"
import type { FailedLogins } from "../../../access/logins/user-lockout.ts"
import type { StoredUser, UserpassRepository } from "../../../access/userpass/userpass-repository.ts"
import type { UserpassUser } from "../../../access/userpass/userpass-user.ts"
import type { UserpassUserRow } from "../../schema/tables.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlUserpassRepository implements UserpassRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async names(methodId: AuthMethodId, page: KeyPage): Promise<readonly string[]> {
    const range = { after: page.after ?? "", limit: limitOf(page, maxListedKeys) }
    return (await this.#session.queryMany(namesAfter, { methodId, ...range })).map(({ name }) => name)
  }

  async find(methodId: AuthMethodId, name: string): Promise<StoredUser | undefined> {
    const row = await this.#session.queryOne(byName, { methodId, name })
    return row && userOf(row)
  }

  async findNext(methodId: AuthMethodId, name: string): Promise<StoredUser | undefined> {
    const row =
      (await this.#session.queryOne(firstAfter, { methodId, after: name })) ??
      (await this.#session.queryOne(firstAfter, { methodId, after: "" }))
    return row && userOf(row)
  }

  async save(methodId: AuthMethodId, { name, user, passwordHash }: Omit<StoredUser, "failedLogins">): Promise<void> {
    await this.#session.execute(saveUser, { methodId, name, definition: JSON.stringify(user), passwordHash })
  }

  async remove(methodId: AuthMethodId, name: string): Promise<void> {
    await this.#session.execute(removeUser, { methodId, name })
  }

  async saveFailedLogins(methodId: AuthMethodId, name: string, { count, lastAt }: FailedLogins): Promise<void> {
    await this.#session.execute(saveFailures, { methodId, name, count, lastAt: lastAt ?? null })
  }

  async withFailedLogins(
    methodId: AuthMethodId,
    limit: number,
  ): Promise<readonly Pick<StoredUser, "name" | "failedLogins">[]> {
    return (await this.#session.queryMany(failed, { methodId, limit })).map(userOf)
  }
}

type UserColumns = Omit<UserpassUserRow, "auth_method_id">

/** Converts a row. Terms that were added after the user was written get their defaults. */
const userOf = (row: UserColumns): StoredUser => ({
  name: row.name,
  user: { ...initialTokenTerms, ...(JSON.parse(row.definition) as UserpassUser) },
  passwordHash: row.password_hash,
  failedLogins: { count: row.failed_logins, lastAt: row.last_failed_at ?? undefined },
})

const columns = ["name", "definition", "password_hash", "failed_logins", "last_failed_at"] as const

const namesAfter = statement(
  (db, { methodId, after, limit }: { methodId: AuthMethodId; after: string; limit: number }) =>
    db
      .selectFrom("userpass_users")
      .select("name")
      .where("auth_method_id", "=", methodId)
      .where("name", ">", after)
      .orderBy("name")
      .limit(limit),
)
const byName = statement((db, { methodId, name }: { methodId: AuthMethodId; name: string }) =>
  db.selectFrom("userpass_users").select(columns).where("auth_method_id", "=", methodId).where("name", "=", name),
)
const firstAfter = statement((db, { methodId, after }: { methodId: AuthMethodId; after: string }) =>
  db
    .selectFrom("userpass_users")
    .select(columns)
    .where("auth_method_id", "=", methodId)
    .where("name", ">", after)
    .orderBy("name")
    .limit(1),
)
const saveUser = statement(
  (
    db,
    user: {
      readonly methodId: AuthMethodId
      readonly name: string
      readonly definition: string
      readonly passwordHash: string
    },
  ) =>
    db
      .insertInto("userpass_users")
      .values({
        auth_method_id: user.methodId,
        name: user.name,
        definition: user.definition,
        password_hash: user.passwordHash,
        failed_logins: 0,
        last_failed_at: null,
      })
      .onConflict((known) =>
        known
          .columns(["auth_method_id", "name"])
          .doUpdateSet({ definition: user.definition, password_hash: user.passwordHash }),
      ),
)
const removeUser = statement((db, { methodId, name }: { methodId: AuthMethodId; name: string }) =>
  db.deleteFrom("userpass_users").where("auth_method_id", "=", methodId).where("name", "=", name),
)
const saveFailures = statement(
  (
    db,
    { methodId, name, count, lastAt }: { methodId: AuthMethodId; name: string; count: number; lastAt: number | null },
  ) =>
    db
      .updateTable("userpass_users")
      .set({ failed_logins: count, last_failed_at: lastAt })
      .where("auth_method_id", "=", methodId)
      .where("name", "=", name),
)
const failed = statement((db, { methodId, limit }: { methodId: AuthMethodId; limit: number }) =>
  db
    .selectFrom("userpass_users")
    .select(columns)
    .where("auth_method_id", "=", methodId)
    .where("failed_logins", ">", 0)
    .orderBy("name")
    .limit(limit),
)

import type { Instant } from "../../../core/time.ts"
import { maxListedKeys, type KeyPage, limitOf } from "../../../pki/mounts/key-page.ts"
import { type AppRole, initialAppRole } from "../../../access/approle/app-role.ts"
import type {
  AppRoleRepository,
  SecretIdKey,
  SecretIdOwner,
  SecretIdRepository,
} from "../../../access/approle/app-role-repository.ts"
import type { AuthMethodId } from "../../../access/logins/auth-method.ts"
import type { SecretId } from "../../../access/approle/secret-id.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"
import { rejectTaken } from "../../sql/unique-violations.ts"

export class SqlAppRoleRepository implements AppRoleRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async names(methodId: AuthMethodId, page: KeyPage): Promise<readonly string[]> {
    const range = { after: page.after ?? "", limit: limitOf(page, maxListedKeys) }
    return (await this.#session.queryMany(roleNames, { methodId, ...range })).map(({ name }) => name)
  }

  async find(methodId: AuthMethodId, name: string): Promise<AppRole | undefined> {
    const row = await this.#session.queryOne(roleByName, { methodId, name })
    return row && roleOf(row)
  }

  async findByRoleId(methodId: AuthMethodId, roleId: string): Promise<AppRole | undefined> {
    const row = await this.#session.queryOne(roleByRoleId, { methodId, roleId })
    return row && roleOf(row)
  }

  async save(methodId: AuthMethodId, { name, roleId, ...made }: AppRole): Promise<void> {
    const row = { methodId, name, roleId, definition: JSON.stringify(made) }
    await rejectTaken(() => this.#session.execute(saveRole, row), {
      role_id: { field: ["roleId"], detail: "role_id already in use" },
    })
  }

  async remove(methodId: AuthMethodId, name: string): Promise<void> {
    await this.#session.execute(removeRole, { methodId, name })
  }
}

interface RoleColumns {
  readonly name: string
  readonly role_id: string
  readonly definition: string
}

/** Converts a row. Fields that were added after the role was written get their defaults. */
function roleOf({ name, role_id: roleId, definition }: RoleColumns): AppRole {
  const made = JSON.parse(definition) as Omit<AppRole, "name" | "roleId">
  return { ...initialAppRole, ...made, terms: { ...initialAppRole.terms, ...made.terms }, name, roleId }
}

const roleColumns = ["name", "role_id", "definition"] as const

const roleNames = statement(
  (db, { methodId, after, limit }: { methodId: AuthMethodId; after: string; limit: number }) =>
    db
      .selectFrom("app_roles")
      .select("name")
      .where("method_id", "=", methodId)
      .where("name", ">", after)
      .orderBy("name")
      .limit(limit),
)
const roleByName = statement((db, { methodId, name }: { methodId: AuthMethodId; name: string }) =>
  db.selectFrom("app_roles").select(roleColumns).where("method_id", "=", methodId).where("name", "=", name),
)
const roleByRoleId = statement((db, { methodId, roleId }: { methodId: AuthMethodId; roleId: string }) =>
  db.selectFrom("app_roles").select(roleColumns).where("method_id", "=", methodId).where("role_id", "=", roleId),
)
const saveRole = statement(
  (
    db,
    role: {
      readonly methodId: AuthMethodId
      readonly name: string
      readonly roleId: string
      readonly definition: string
    },
  ) =>
    db
      .insertInto("app_roles")
      .values({ method_id: role.methodId, name: role.name, role_id: role.roleId, definition: role.definition })
      .onConflict((known) =>
        known.columns(["method_id", "name"]).doUpdateSet({ role_id: role.roleId, definition: role.definition }),
      ),
)
const removeRole = statement((db, { methodId, name }: { methodId: AuthMethodId; name: string }) =>
  db.deleteFrom("app_roles").where("method_id", "=", methodId).where("name", "=", name),
)

export class SqlSecretIdRepository implements SecretIdRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async accessors(owner: SecretIdOwner, page: KeyPage, now: Instant): Promise<readonly string[]> {
    const range = { after: page.after ?? "", limit: limitOf(page, maxListedKeys) }
    return (await this.#session.queryMany(accessorsOf, { ...owner, ...range, now })).map(({ accessor }) => accessor)
  }

  async find(owner: SecretIdOwner, key: SecretIdKey): Promise<SecretId | undefined> {
    const row =
      "digest" in key
        ? await this.#session.queryOne(secretIdByDigest, { ...owner, ...key })
        : await this.#session.queryOne(secretIdByAccessor, { ...owner, ...key })
    return row && secretIdOf(row)
  }

  async insert({ methodId, name }: SecretIdOwner, secretId: SecretId, digest: string): Promise<void> {
    const { accessor, usesLeft, createdAt, updatedAt, expiresAt, ...made } = secretId
    const insertion = this.#session.db.insertInto("app_role_secret_ids").values({
      accessor,
      method_id: methodId,
      role_name: name,
      digest,
      uses_left: usesLeft,
      created_at: createdAt,
      updated_at: updatedAt,
      expires_at: expiresAt,
      definition: JSON.stringify(made),
    })
    await rejectTaken(() => this.#session.execute(insertion), {
      digest: { field: ["secretId"], detail: "secret_id is already registered" },
    })
  }

  async spendUse(accessor: string, now: Instant): Promise<boolean> {
    if ((await this.#session.execute(spendOne, { accessor, now })) > 0) return true
    return (await this.#session.execute(spendLast, { accessor })) > 0
  }

  async remove(owner: SecretIdOwner, key: SecretIdKey): Promise<boolean> {
    const removed =
      "digest" in key
        ? await this.#session.execute(removeByDigest, { ...owner, ...key })
        : await this.#session.execute(removeByAccessor, { ...owner, ...key })
    return removed > 0
  }

  sweep(now: Instant, limit: number): Promise<number> {
    return this.#session.execute(forget, { now, limit })
  }
}

interface SecretIdColumns {
  readonly accessor: string
  readonly uses_left: number | null
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
  readonly definition: string
}

const secretIdOf = (row: SecretIdColumns): SecretId => ({
  ...(JSON.parse(row.definition) as Pick<SecretId, "ttlMs" | "metadata" | "cidrList" | "tokenBoundCidrs">),
  accessor: row.accessor,
  usesLeft: row.uses_left,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at,
})

const secretIdColumns = ["accessor", "uses_left", "created_at", "updated_at", "expires_at", "definition"] as const

const accessorsOf = statement(
  (db, { methodId, name, after, limit, now }: SecretIdOwner & { after: string; limit: number; now: Instant }) =>
    db
      .selectFrom("app_role_secret_ids")
      .select("accessor")
      .where("method_id", "=", methodId)
      .where("role_name", "=", name)
      .where("accessor", ">", after)
      .where((one) => one.or([one("expires_at", "is", null), one("expires_at", ">", now)]))
      .orderBy("accessor")
      .limit(limit),
)
const secretIdByDigest = statement((db, { methodId, name, digest }: SecretIdOwner & { digest: string }) =>
  db
    .selectFrom("app_role_secret_ids")
    .select(secretIdColumns)
    .where("method_id", "=", methodId)
    .where("role_name", "=", name)
    .where("digest", "=", digest),
)
const secretIdByAccessor = statement((db, { methodId, name, accessor }: SecretIdOwner & { accessor: string }) =>
  db
    .selectFrom("app_role_secret_ids")
    .select(secretIdColumns)
    .where("accessor", "=", accessor)
    .where("method_id", "=", methodId)
    .where("role_name", "=", name),
)
const spendOne = statement((db, { accessor, now }: { accessor: string; now: Instant }) =>
  db
    .updateTable("app_role_secret_ids")
    .set((one) => ({ uses_left: one("uses_left", "-", 1), updated_at: now }))
    .where("accessor", "=", accessor)
    .where("uses_left", ">", 1),
)
const spendLast = statement((db, { accessor }: { accessor: string }) =>
  db.deleteFrom("app_role_secret_ids").where("accessor", "=", accessor).where("uses_left", "=", 1),
)
const removeByDigest = statement((db, { methodId, name, digest }: SecretIdOwner & { digest: string }) =>
  db
    .deleteFrom("app_role_secret_ids")
    .where("method_id", "=", methodId)
    .where("role_name", "=", name)
    .where("digest", "=", digest),
)
const removeByAccessor = statement((db, { methodId, name, accessor }: SecretIdOwner & { accessor: string }) =>
  db
    .deleteFrom("app_role_secret_ids")
    .where("accessor", "=", accessor)
    .where("method_id", "=", methodId)
    .where("role_name", "=", name),
)
const forget = statement((db, { now, limit }: { now: Instant; limit: number }) =>
  db
    .deleteFrom("app_role_secret_ids")
    .where(
      "accessor",
      "in",
      db
        .selectFrom("app_role_secret_ids")
        .select("accessor")
        .where("expires_at", "<=", now)
        .orderBy("expires_at")
        .limit(limit),
    ),
)

import type { AuthMethodId } from "../../../access/logins/auth-method.ts"
import type { CertificateLoginConfig } from "../../../access/certificates/certificate-login-config.ts"
import type {
  CertificateLoginRepository,
  NamedCertificateRole,
  NewRevocationList,
  StoredRevocationList,
} from "../../../access/certificates/certificate-login-repository.ts"
import type { CertificateRole } from "../../../access/certificates/certificate-role.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlCertificateLoginRepository implements CertificateLoginRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async config(methodId: AuthMethodId): Promise<CertificateLoginConfig | undefined> {
    const row = await this.#session.queryOne(configOf, { methodId })
    return row && (JSON.parse(row.config) as CertificateLoginConfig)
  }

  async saveConfig(methodId: AuthMethodId, value: CertificateLoginConfig): Promise<void> {
    const config = JSON.stringify(value)
    await this.#session.execute(
      this.#session.db
        .insertInto("certificate_login_configs")
        .values({ auth_method_id: methodId, config })
        .onConflict((known) => known.column("auth_method_id").doUpdateSet({ config })),
    )
  }

  async roleNames(methodId: AuthMethodId): Promise<readonly string[]> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("certificate_login_roles")
        .select("name")
        .where("auth_method_id", "=", methodId)
        .orderBy("name"),
    )
    return rows.map(({ name }) => name)
  }

  async roles(methodId: AuthMethodId): Promise<readonly NamedCertificateRole[]> {
    const rows = await this.#session.queryMany(rolesOf, { methodId })
    return rows.map(({ name, definition }) => ({ name, role: JSON.parse(definition) as CertificateRole }))
  }

  async role(methodId: AuthMethodId, name: string): Promise<CertificateRole | undefined> {
    const row = await this.#session.queryOne(roleOf, { methodId, name })
    return row && (JSON.parse(row.definition) as CertificateRole)
  }

  async saveRole(methodId: AuthMethodId, name: string, role: CertificateRole): Promise<void> {
    const definition = JSON.stringify(role)
    await this.#session.execute(
      this.#session.db
        .insertInto("certificate_login_roles")
        .values({ auth_method_id: methodId, name, definition })
        .onConflict((known) => known.columns(["auth_method_id", "name"]).doUpdateSet({ definition })),
    )
  }

  async removeRole(methodId: AuthMethodId, name: string): Promise<void> {
    await this.#session.execute(
      this.#session.db
        .deleteFrom("certificate_login_roles")
        .where("auth_method_id", "=", methodId)
        .where("name", "=", name),
    )
  }

  async lists(methodId: AuthMethodId): Promise<readonly StoredRevocationList[]> {
    const rows = await this.#session.queryMany(listsOf, { methodId })
    return rows.map(({ name, url, issuer, digest, next_update, stored_at }) => ({
      name,
      url,
      issuer,
      digest,
      nextUpdate: next_update,
      storedAt: stored_at,
    }))
  }

  async listContent(methodId: AuthMethodId, name: string): Promise<Uint8Array | undefined> {
    return (await this.#session.queryOne(contentOf, { methodId, name }))?.content
  }

  async saveList(methodId: AuthMethodId, { name, nextUpdate, storedAt, ...list }: NewRevocationList): Promise<void> {
    const row = { ...list, next_update: nextUpdate, stored_at: storedAt }
    await this.#session.execute(
      this.#session.db
        .insertInto("certificate_login_crls")
        .values({ auth_method_id: methodId, name, ...row })
        .onConflict((known) => known.columns(["auth_method_id", "name"]).doUpdateSet(row)),
    )
  }

  async removeList(methodId: AuthMethodId, name: string): Promise<void> {
    await this.#session.execute(
      this.#session.db
        .deleteFrom("certificate_login_crls")
        .where("auth_method_id", "=", methodId)
        .where("name", "=", name),
    )
  }
}

const configOf = statement((db, { methodId }: { methodId: string }) =>
  db.selectFrom("certificate_login_configs").select("config").where("auth_method_id", "=", methodId),
)
const rolesOf = statement((db, { methodId }: { methodId: string }) =>
  db
    .selectFrom("certificate_login_roles")
    .select(["name", "definition"])
    .where("auth_method_id", "=", methodId)
    .orderBy("name"),
)
const roleOf = statement((db, { methodId, name }: { methodId: string; name: string }) =>
  db
    .selectFrom("certificate_login_roles")
    .select("definition")
    .where("auth_method_id", "=", methodId)
    .where("name", "=", name),
)
const listsOf = statement((db, { methodId }: { methodId: string }) =>
  db
    .selectFrom("certificate_login_crls")
    .select(["name", "url", "issuer", "digest", "next_update", "stored_at"])
    .where("auth_method_id", "=", methodId)
    .orderBy("name"),
)
const contentOf = statement((db, { methodId, name }: { methodId: string; name: string }) =>
  db
    .selectFrom("certificate_login_crls")
    .select("content")
    .where("auth_method_id", "=", methodId)
    .where("name", "=", name),
)

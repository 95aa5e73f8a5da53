import type { Sealer } from "../../../core/sealing.ts"
import type { AuthMethodId } from "../../../access/logins/auth-method.ts"
import type { KubernetesConfig, NewKubernetesConfig } from "../../../access/kubernetes/kubernetes-config.ts"
import type { KubernetesLoginRepository } from "../../../access/kubernetes/kubernetes-login-repository.ts"
import type { KubernetesRole } from "../../../access/kubernetes/kubernetes-role.ts"
import { sealPaths } from "../../sealing/seal-paths.ts"
import { type QueryRunner, statement } from "../../sql/query-runner.ts"

export class SqlKubernetesLoginRepository implements KubernetesLoginRepository {
  readonly #session: QueryRunner
  readonly #sealer: Sealer

  constructor(session: QueryRunner, sealer: Sealer) {
    this.#session = session
    this.#sealer = sealer
  }

  async config(methodId: AuthMethodId): Promise<KubernetesConfig | undefined> {
    const row = await this.#session.queryOne(configOf, { methodId })
    return row && (JSON.parse(row.config) as KubernetesConfig)
  }

  async reviewerToken(methodId: AuthMethodId): Promise<string | undefined> {
    const { reviewer_token_sealed: sealed = null } = (await this.#session.queryOne(sealedTokenOf, { methodId })) ?? {}
    if (sealed === null) return undefined
    return Buffer.from(this.#sealer.open(sealPaths.kubernetesReviewer(methodId), sealed)).toString()
  }

  async saveConfig(methodId: AuthMethodId, { config, tokenReviewerJwt }: NewKubernetesConfig): Promise<void> {
    const reviewer_token_sealed =
      tokenReviewerJwt === ""
        ? null
        : this.#sealer.seal(sealPaths.kubernetesReviewer(methodId), Buffer.from(tokenReviewerJwt))
    const row = { config: JSON.stringify(config), reviewer_token_sealed }
    await this.#session.execute(
      this.#session.db
        .insertInto("kubernetes_clusters")
        .values({ auth_method_id: methodId, ...row })
        .onConflict((known) => known.column("auth_method_id").doUpdateSet(row)),
    )
  }

  async roleNames(methodId: AuthMethodId): Promise<readonly string[]> {
    const rows = await this.#session.queryMany(
      this.#session.db
        .selectFrom("kubernetes_roles")
        .select("name")
        .where("auth_method_id", "=", methodId)
        .orderBy("name"),
    )
    return rows.map(({ name }) => name)
  }

  async role(methodId: AuthMethodId, name: string): Promise<KubernetesRole | undefined> {
    const row = await this.#session.queryOne(roleOf, { methodId, name })
    return row && (JSON.parse(row.definition) as KubernetesRole)
  }

  async saveRole(methodId: AuthMethodId, name: string, role: KubernetesRole): Promise<void> {
    const definition = JSON.stringify(role)
    await this.#session.execute(
      this.#session.db
        .insertInto("kubernetes_roles")
        .values({ auth_method_id: methodId, name, definition })
        .onConflict((known) => known.columns(["auth_method_id", "name"]).doUpdateSet({ definition })),
    )
  }

  async removeRole(methodId: AuthMethodId, name: string): Promise<void> {
    await this.#session.execute(
      this.#session.db.deleteFrom("kubernetes_roles").where("auth_method_id", "=", methodId).where("name", "=", name),
    )
  }
}

const configOf = statement((db, { methodId }: { methodId: string }) =>
  db.selectFrom("kubernetes_clusters").select("config").where("auth_method_id", "=", methodId),
)
const sealedTokenOf = statement((db, { methodId }: { methodId: string }) =>
  db.selectFrom("kubernetes_clusters").select("reviewer_token_sealed").where("auth_method_id", "=", methodId),
)
const roleOf = statement((db, { methodId, name }: { methodId: string; name: string }) =>
  db
    .selectFrom("kubernetes_roles")
    .select("definition")
    .where("auth_method_id", "=", methodId)
    .where("name", "=", name),
)

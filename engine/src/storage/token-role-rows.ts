import { initialTokenRole, type NamedTokenRole, type TokenRole } from "../pki/access/token-role.ts"
import type { TokenRoleRepository } from "../pki/access/token-role-store.ts"
import { type QueryRunner, statement } from "./session.ts"

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

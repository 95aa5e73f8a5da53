import { sql } from "kysely"
import { busy } from "../core/errors.ts"
import type { EntityId, EntityNameRepository, NamedEntity } from "../organizations/entity-name.ts"
import { foldName } from "../organizations/organization.ts"
import { among } from "./dialect.ts"
import { type QueryRunner, statement } from "./session.ts"
import type { EntityNameRow } from "./tables.ts"

/** `alice-2` may also be a username. */
const attemptsMaximum = 64

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
    for (let number = first; number < first + attemptsMaximum; number += 1) {
      const candidate = number === 1 ? name : `${name}-${number}`
      const row = { name_folded: foldName(candidate), name: candidate, entity_id: id, base_folded: base, number }
      if ((await this.#session.execute(insertNew, row)) > 0) return candidate
      // The id or the name is there: another server may have named the entity in between.
      const named = (await this.find([id])).get(id)
      if (named !== undefined) return named
    }
    throw busy("The name for role templates is being given to many others; try again.")
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

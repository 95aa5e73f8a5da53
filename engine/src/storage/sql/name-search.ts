// Search for a part of a workspace's name, which the two databases index differently (docs/decisions/two-databases.md). PostgreSQL has a
// trigram index on the column, and statistics that tell when to use it. SQLite has neither. `idsByName` therefore queries a contentless
// FTS5 table of trigrams, and returns ids if there are few matches. Otherwise the list scans the organization in its own order and filters.
// The FTS5 row ids are `workspaces.number`, a column that only this file and the migration use.
import { sql, type RawBuilder } from "kysely"
import { among } from "./dialect.ts"
import { statement, type DialectName, type QueryRunner } from "./query-runner.ts"

/** Returns a condition on `workspaces` (not aliased in the query): the folded name contains the folded text. */
export const nameContains = (dialect: DialectName, folded: string): RawBuilder<boolean> =>
  dialect === "sqlite"
    ? sql<boolean>`instr(workspaces.name_folded, ${folded}) > 0`
    : sql<boolean>`workspaces.name_folded like ${`%${escapeLike(folded)}%`} escape '\\'`

/**
 * Returns the ids of the workspaces in the organization that `nameContains` matches, if the name index finds at most `most` candidates.
 * Returns undefined if another filter or the order should drive the query.
 */
export async function idsByName(
  session: QueryRunner,
  { organizationId, folded, most }: { readonly organizationId: string; readonly folded: string; readonly most: number },
): Promise<readonly string[] | undefined> {
  const trigrams = trigramsOf(folded)
  if (session.dialect !== "sqlite" || trigrams.length === 0) return undefined
  const match = trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ")
  const candidates = await session.queryMany(candidateStatement, { match, limit: most + 1 })
  if (candidates.length > most) return undefined
  const numbers = candidates.map(({ number }) => number)
  const rows = await session.queryMany(confirmStatement, { numbers, organizationId, folded })
  return rows.map(({ id }) => id)
}

/** Indexes the name of a workspace. Call it after an insert or a rename, in the same transaction. */
export async function indexName(session: QueryRunner, workspaceId: string): Promise<void> {
  if (session.dialect === "sqlite") await session.execute(indexStatement, { workspaceId })
}

/** Removes the name of a workspace from the index. Call it before the workspace is deleted, in the same transaction. */
export async function removeName(session: QueryRunner, workspaceId: string): Promise<void> {
  if (session.dialect === "sqlite") await session.execute(removeStatement, { workspaceId })
}

/** Removes the names of all workspaces of an organization. Call it before the organization is deleted, in the same transaction. */
export async function removeNamesOf(session: QueryRunner, organizationId: string): Promise<void> {
  if (session.dialect === "sqlite") await session.execute(removeAllStatement, { organizationId })
}

/** Creates the name index; part of migration 0001. */
export async function createNameSearch(session: QueryRunner): Promise<void> {
  for (const text of schema[session.dialect]) await session.execute(sql.raw(text))
}

/** SQLite row numbers and the index derived from them. A copy of a database does not include these but creates new ones. */
export const nameNumbers = {
  table: "workspaces",
  column: "number",
  derived: "workspace_names",
  derive: "insert into workspace_names (rowid, name_folded) select number, name_folded from workspaces",
} as const

/** Bounds the trigrams of a query: more hardly make it more selective. */
const maximumTrigrams = 24

function trigramsOf(text: string): readonly string[] {
  const characters = Array.from(text)
  const trigrams = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""))
  return [...new Set(trigrams)].slice(0, maximumTrigrams)
}

export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)

// Names are stored folded, so the tokenizer must not fold again. `detail=none` halves the index; queries only match whole rows.
const schema: Record<DialectName, readonly string[]> = {
  sqlite: [
    `create virtual table workspace_names using fts5 (
      name_folded, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1, detail = none
    )`,
  ],
  // Without `fastupdate = off`, every insert would write the pending list, which serializable readers lock as a whole.
  postgres: [
    "create extension if not exists pg_trgm",
    "create index workspaces_name_trigrams on workspaces using gin (name_folded gin_trgm_ops) with (fastupdate = off)",
  ],
}

const candidateStatement = statement<{ match: string; limit: number }, { number: number }>(
  (_db, { match, limit }) =>
    sql`select rowid as number from workspace_names where workspace_names match ${match} limit ${limit}`,
)
// With `not indexed`, SQLite can only search by row number.
const confirmStatement = statement<
  { numbers: readonly number[]; organizationId: string; folded: string },
  { id: string }
>(
  (_db, { numbers, organizationId, folded }, dialect) =>
    sql`select id from workspaces not indexed where ${among(dialect, sql.ref("number"), numbers)}
      and organization_id = ${organizationId} and ${nameContains(dialect, folded)}`,
)
const indexStatement = statement<{ workspaceId: string }, unknown>(
  (_db, { workspaceId }) =>
    sql`insert or replace into workspace_names (rowid, name_folded)
      select number, name_folded from workspaces where id = ${workspaceId}`,
)
const removeStatement = statement<{ workspaceId: string }, unknown>(
  (_db, { workspaceId }) =>
    sql`delete from workspace_names where rowid = (select number from workspaces where id = ${workspaceId})`,
)
const removeAllStatement = statement<{ organizationId: string }, unknown>(
  (_db, { organizationId }) =>
    sql`delete from workspace_names
      where rowid in (select number from workspaces where organization_id = ${organizationId})`,
)

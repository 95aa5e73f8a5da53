// Search for a part of a workspace's name, the one thing the two dialects index differently (architecture 0.18).
// SQLite keeps a contentless FTS5 table of trigrams whose row numbers are `workspaces.number`, a column only this file
// and the migration know; it says which names hold all trigrams of the text, and `instr` says which hold them in a row.
// PostgreSQL has a trigram index on the column itself.
import { sql, type RawBuilder } from "kysely"
import { statement, type DialectName, type Session } from "./session.ts"

/** True for rows of `workspaces` (under that name in the query) whose folded name contains the folded text. */
export function nameContains(dialect: DialectName, folded: string): RawBuilder<boolean> {
  if (dialect === "postgres") return sql<boolean>`workspaces.name_folded like ${`%${escapeLike(folded)}%`} escape '\\'`
  const contains = sql<boolean>`instr(workspaces.name_folded, ${folded}) > 0`
  const trigrams = trigramsOf(folded)
  if (trigrams.length === 0) return contains
  const match = trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(" AND ")
  return sql<boolean>`(workspaces.number in (select rowid from workspace_names where workspace_names match ${match}) and ${contains})`
}

/** After a workspace is inserted or renamed, in the same transaction. */
export async function indexName(session: Session, workspaceId: string): Promise<void> {
  if (session.dialect === "sqlite") await session.run(indexStatement, { workspaceId })
}

/** Before a workspace is deleted, in the same transaction. */
export async function removeName(session: Session, workspaceId: string): Promise<void> {
  if (session.dialect === "sqlite") await session.run(removeStatement, { workspaceId })
}

/** Before an organization is deleted with all its workspaces, in the same transaction. */
export async function removeNamesOf(session: Session, organizationId: string): Promise<void> {
  if (session.dialect === "sqlite") await session.run(removeAllStatement, { organizationId })
}

/** Part of migration 0001. */
export async function createNameSearch(session: Session): Promise<void> {
  for (const text of schema[session.dialect]) await session.run(sql.raw(text))
}

/** The most that are asked for: rarer ones do not make the search noticeably sharper. */
const maximumTrigrams = 24

function trigramsOf(text: string): readonly string[] {
  const characters = Array.from(text)
  const trigrams = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""))
  return [...new Set(trigrams)].slice(0, maximumTrigrams)
}

export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)

// Names arrive folded, so the tokenizer must not fold again. `detail=none` halves the index; only whole-row matches are asked.
const schema: Record<DialectName, readonly string[]> = {
  sqlite: [
    `create virtual table workspace_names using fts5 (
      name_folded, tokenize = 'trigram case_sensitive 1', content = '', contentless_delete = 1, detail = none
    )`,
  ],
  // Without `fastupdate = off` every insert would touch the pending list, which serializable readers lock as a whole.
  postgres: [
    "create extension if not exists pg_trgm",
    "create index workspaces_name_trigrams on workspaces using gin (name_folded gin_trgm_ops) with (fastupdate = off)",
  ],
}

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

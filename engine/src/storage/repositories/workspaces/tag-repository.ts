import { type Kysely, sql } from "kysely"
import type { OrganizationId, TagId, WorkspaceId } from "../../../core/ids.ts"
import type { Page, PageRequest } from "../../../core/page.ts"
import { type CountedTag, foldTag, type Tag } from "../../../workspaces/tags/tag.ts"
import type { TagBinding } from "../../../workspaces/tags/tag-binding.ts"
import type { Taggable, OwnedTag, TagQuery, TagRepository } from "../../../workspaces/tags/tag-repository.ts"
import { among, containing } from "../../sql/dialect.ts"
import { selectPage } from "../../sql/select-page.ts"
import { OutdatedSnapshot, type QueryRunner, statement, UniqueViolation } from "../../sql/query-runner.ts"
import type { Flag, Tables, TagRow } from "../../schema/tables.ts"

/** Rows of one insert. Both databases limit the number of parameters of a statement. */
const rowsPerInsert = 500
const fewRows = 10
/** An error text names no more tags than this. */
const maxHeldTags = 5

export class SqlTagRepository implements TagRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  async find(id: string): Promise<Tag | undefined> {
    const row = await this.#session.queryOne(byId, { id })
    return row && tagOf(row)
  }

  async findMany(organizationId: OrganizationId, ids: readonly string[]): Promise<readonly Tag[]> {
    return ids.length === 0 ? [] : (await this.#session.queryMany(byIds, { organizationId, ids })).map(tagOf)
  }

  async findNamed(organizationId: OrganizationId, names: readonly string[]): Promise<readonly Tag[]> {
    if (names.length === 0) return []
    return (await this.#session.queryMany(byNames, { organizationId, names: names.map(foldTag) })).map(tagOf)
  }

  async list({ organizationId, search, exceptOf = [] }: TagQuery, page: PageRequest): Promise<Page<CountedTag>> {
    const { db, dialect } = this.#session
    let matching = db.selectFrom("tags as t").where("t.organization_id", "=", organizationId)
    if (search !== undefined) matching = matching.where(containing(dialect, sql.ref("t.name_folded"), foldTag(search)))
    if (exceptOf.length > 0) {
      const carried = db
        .selectFrom("workspace_bindings as b")
        .select("b.tag_id")
        .where("b.tag_id", "is not", null)
        .where(among(dialect, sql.ref("b.workspace_id"), exceptOf))
      matching = matching.where("t.id", "not in", carried as never)
    }
    return this.#page(matching, page)
  }

  async counted(ids: readonly TagId[]): Promise<readonly CountedTag[]> {
    if (ids.length === 0) return []
    return (await this.#session.queryMany(countedByIds, { ids })).map(countedTagOf)
  }

  async ensure(drafts: readonly Tag[]): Promise<readonly Tag[]> {
    const [first] = drafts
    if (first === undefined) return []
    const names = drafts.map(({ name }) => name)
    let found = await this.findNamed(first.organizationId, names)
    const known = new Set(found.map(({ name }) => foldTag(name)))
    // A fixed order, so that two transactions with the same names cannot deadlock.
    const rows = drafts
      .filter(({ name }) => !known.has(foldTag(name)))
      .map(tagRowOf)
      .toSorted((a, b) => (a.name_folded < b.name_folded ? -1 : 1))
    for (const chunk of chunks(rows))
      await this.#session.execute(
        this.#session.db
          .insertInto("tags")
          .values(chunk)
          .onConflict((conflict) => conflict.columns(["organization_id", "name_folded"]).doNothing()),
      )
    if (rows.length > 0) found = await this.findNamed(first.organizationId, names)
    const byName = new Map(found.map((tag) => [foldTag(tag.name), tag]))
    return drafts.map((draft) => byName.get(foldTag(draft.name)) ?? draft)
  }

  async remove(ids: readonly TagId[]): Promise<void> {
    if (ids.length > 0) await this.#session.execute(removeTags, { ids })
  }

  async removeUnused(ids: readonly TagId[]): Promise<void> {
    if (ids.length === 0) return
    if (this.#session.dialect === "sqlite") return void (await this.#session.execute(removeUnusedTags, { ids }))
    const unwitnessed: TagId[] = []
    for (const id of ids) if ((await this.#session.queryOne(witness, { id })) === undefined) unwitnessed.push(id)
    if (unwitnessed.length === 0) return
    await this.#session.execute(writeTags, { ids: unwitnessed.toSorted() })
    await this.#session.execute(removeUnusedTags, { ids: unwitnessed })
  }

  async bindingsOf(bearers: readonly Taggable[]): Promise<ReadonlyMap<string, readonly TagBinding[]>> {
    const found = new Map<string, TagBinding[]>(bearers.map(({ id }) => [id, []]))
    for (const kind of ["workspace", "project"] as const) {
      const ids = bearers.filter((bearer) => bearer.kind === kind).map(({ id }) => id)
      if (ids.length === 0) continue
      const rows = await this.#session.queryMany(kind === "workspace" ? workspaceBindings : projectBindings, { ids })
      for (const row of rows) found.get(row.bearer_id)?.push(bindingOf(row))
    }
    return found
  }

  tagsOf(workspaceId: WorkspaceId, page: PageRequest, search?: string): Promise<Page<CountedTag>> {
    const { db, dialect } = this.#session
    const carried = db.selectFrom("tags as t").where("t.id", "in", (eb) =>
      eb
        .selectFrom("workspace_bindings as b")
        .select(sql<string>`b.tag_id`.as("tag_id"))
        .where("b.workspace_id", "=", workspaceId)
        .where("b.tag_id", "is not", null),
    )
    if (search === undefined) return this.#page(carried, page)
    return this.#page(carried.where(containing(dialect, sql.ref("t.name_folded"), foldTag(search))), page)
  }

  async insertBindings(bindings: readonly (TagBinding & { readonly taggable: Taggable })[]): Promise<void> {
    const { db } = this.#session
    for (const chunk of chunks(bindings.filter(({ taggable }) => taggable.kind === "workspace"))) {
      const rows = chunk.map(({ taggable, tagId, ...binding }) => ({
        ...bindingColumns(binding, taggable),
        workspace_id: taggable.id,
        tag_id: tagId,
        is_binding: isBindingFlag(binding),
      }))
      // Building and binding a statement for many rows costs more than inserting them.
      await orOutdated(() =>
        rows.length > fewRows
          ? this.#session.execute(insertManyBindings, { rows: JSON.stringify(rows) })
          : this.#session.execute(db.insertInto("workspace_bindings").values(rows)),
      )
    }
    for (const chunk of chunks(bindings.filter(({ taggable }) => taggable.kind === "project")))
      await this.#session.execute(
        db.insertInto("project_bindings").values(
          chunk.map(({ taggable, ...binding }) => ({
            ...bindingColumns(binding, taggable),
            project_id: taggable.id,
          })),
        ),
      )
  }

  async updateBinding({ kind }: Taggable, binding: TagBinding): Promise<void> {
    const { db } = this.#session
    const { id, key, value, tagId, owners } = binding
    const changed = { key, value, owners: ownersText(owners) }
    await this.#session.execute(
      kind === "workspace"
        ? db
            .updateTable("workspace_bindings")
            .set({ ...changed, tag_id: tagId, is_binding: isBindingFlag(binding) })
            .where("id", "=", id)
        : db.updateTable("project_bindings").set(changed).where("id", "=", id),
    )
  }

  async removeBindings(kind: Taggable["kind"], ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.#session.execute(kind === "workspace" ? removeWorkspaceBindings : removeProjectBindings, { ids })
  }

  async heldByOthers(ids: readonly TagId[], owner: string): Promise<readonly OwnedTag[]> {
    if (ids.length === 0) return []
    const rows = await this.#session.queryMany(heldByOthers, { ids, alone: JSON.stringify([owner]) })
    return rows.map((row) => ({
      tagId: row.tag_id as TagId,
      workspaceId: row.workspace_id as WorkspaceId,
      owners: JSON.parse(row.owners ?? "[]") as readonly string[],
    }))
  }

  async releaseTagsOf(workspaceId: WorkspaceId): Promise<void> {
    const rows = await this.#session.queryMany(dropBindings, { workspaceId })
    await this.removeUnused(rows.flatMap(({ tag_id }) => (tag_id === null ? [] : [tag_id as TagId])))
  }

  #page(matching: MatchingTags, page: PageRequest): Promise<Page<CountedTag>> {
    const query = matching.select([...tagColumns, instanceCount]).orderBy("t.name_folded")
    return selectPage(this.#session, query, page, countedTagOf)
  }
}

/** Turns a unique violation into a retry. Existing bindings were read before, so the conflicting one was committed after the snapshot. */
async function orOutdated(insert: () => Promise<unknown>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    throw error instanceof UniqueViolation ? new OutdatedSnapshot({ cause: error }) : error
  }
}

const tagsOf = (db: Kysely<Tables>) => db.selectFrom("tags as t")
type MatchingTags = ReturnType<typeof tagsOf>

const tagColumns = ["t.id", "t.organization_id", "t.name", "t.created_at"] as const
const instanceCount = sql<number>`(select count(*) from workspace_bindings as b where b.tag_id = t.id)`.as(
  "instance_count",
)

const byId = statement((db, { id }: { id: string }) => tagsOf(db).select(tagColumns).where("t.id", "=", id))
const byIds = statement((db, { organizationId, ids }: { organizationId: string; ids: readonly string[] }, dialect) =>
  tagsOf(db)
    .select(tagColumns)
    .where("t.organization_id", "=", organizationId)
    .where(among(dialect, sql.ref("t.id"), ids)),
)
const byNames = statement(
  (db, { organizationId, names }: { organizationId: string; names: readonly string[] }, dialect) =>
    tagsOf(db)
      .select(tagColumns)
      .where("t.organization_id", "=", organizationId)
      .where(among(dialect, sql.ref("t.name_folded"), names)),
)
interface Ids {
  readonly ids: readonly string[]
}
const countedByIds = statement((db, { ids }: Ids, dialect) =>
  tagsOf(db)
    .select([...tagColumns, instanceCount])
    .where(among(dialect, sql.ref("t.id"), ids)),
)
const removeTags = statement((db, { ids }: Ids, dialect) =>
  db.deleteFrom("tags").where(among(dialect, sql.ref("id"), ids)),
)
/**
 * Locks a binding that keeps the tag in the pool, so that it is neither removed nor changed before this transaction ends.
 *
 * Two transactions that take a tag from its last two workspaces each see the binding of the other. The one that locks the other's binding
 * finds it deleted, and is retried.
 */
const witness = statement<{ readonly id: string }, { readonly id: string }>(
  (_db, { id }) => sql`select id from workspace_bindings where tag_id = ${id} limit 1 for share skip locked`,
)
/**
 * Writes the rows of tags without any lockable binding. Of two transactions that find none, both write the row, so that one is retried.
 *
 * A transaction that adds the tag locks the row by its foreign key until it commits. The deletion then meets a binding newer than its
 * snapshot.
 */
const writeTags = statement((db, { ids }: Ids, dialect) =>
  db
    .updateTable("tags")
    .set({ created_at: sql<number>`created_at` })
    .where(among(dialect, sql.ref("id"), ids)),
)
const removeUnusedTags = statement((db, { ids }: Ids, dialect) =>
  db
    .deleteFrom("tags")
    .where(among(dialect, sql.ref("id"), ids))
    .where(sql<boolean>`not exists (select 1 from workspace_bindings as b where b.tag_id = tags.id)`),
)
const workspaceBindings = statement((db, { ids }: Ids, dialect) =>
  db
    .selectFrom("workspace_bindings as b")
    .select([
      "b.workspace_id as bearer_id",
      "b.id",
      "b.tag_id",
      "b.is_binding",
      "b.key",
      "b.value",
      "b.created_at",
      "b.owners",
    ])
    .where(among(dialect, sql.ref("b.workspace_id"), ids))
    .orderBy("b.workspace_id")
    .orderBy("b.key_folded"),
)
const projectBindings = statement((db, { ids }: Ids, dialect) =>
  db
    .selectFrom("project_bindings as b")
    .select([
      "b.project_id as bearer_id",
      "b.id",
      sql<null>`null`.as("tag_id"),
      sql<1>`1`.as("is_binding"),
      "b.key",
      "b.value",
      "b.created_at",
      "b.owners",
    ])
    .where(among(dialect, sql.ref("b.project_id"), ids))
    .orderBy("b.project_id")
    .orderBy("b.key_folded"),
)
const removeWorkspaceBindings = statement((db, { ids }: Ids, dialect) =>
  db.deleteFrom("workspace_bindings").where(among(dialect, sql.ref("id"), ids)),
)
const removeProjectBindings = statement((db, { ids }: Ids, dialect) =>
  db.deleteFrom("project_bindings").where(among(dialect, sql.ref("id"), ids)),
)
const heldByOthers = statement((db, { ids, alone }: Ids & { readonly alone: string }, dialect) =>
  db
    .selectFrom("workspace_bindings as b")
    .select(["b.tag_id", "b.workspace_id", "b.owners"])
    .where(among(dialect, sql.ref("b.tag_id"), ids))
    .where("b.owners", "is not", null)
    .where("b.owners", "<>", alone)
    .orderBy("b.tag_id")
    .orderBy("b.workspace_id")
    .limit(maxHeldTags),
)
const dropBindings = statement((db, { workspaceId }: { workspaceId: string }) =>
  db.deleteFrom("workspace_bindings").where("workspace_id", "=", workspaceId).returning("tag_id"),
)

const tagOf = (row: Pick<TagRow, "id" | "organization_id" | "name" | "created_at">): Tag => ({
  id: row.id as TagId,
  organizationId: row.organization_id as OrganizationId,
  name: row.name,
  createdAt: row.created_at,
})

const countedTagOf = (row: Parameters<typeof tagOf>[0] & { readonly instance_count: number }): CountedTag => ({
  ...tagOf(row),
  instanceCount: row.instance_count,
})

const tagRowOf = (tag: Tag): TagRow => ({
  id: tag.id,
  organization_id: tag.organizationId,
  name: tag.name,
  name_folded: foldTag(tag.name),
  created_at: tag.createdAt,
})

const bindingOf = (row: {
  readonly id: string
  readonly tag_id: string | null
  readonly is_binding: number | null
  readonly key: string
  readonly value: string
  readonly created_at: number
  readonly owners: string | null
}): TagBinding => ({
  id: row.id,
  tagId: row.tag_id as TagId | null,
  isTag: row.tag_id !== null,
  isBinding: row.value !== "" || row.is_binding === 1,
  key: row.key,
  value: row.value,
  createdAt: row.created_at,
  owners: row.owners === null ? nobody : (JSON.parse(row.owners) as readonly string[]),
})

const nobody: readonly string[] = []

const isBindingFlag = ({ isBinding }: Pick<TagBinding, "isBinding">): Flag => (isBinding ? 1 : 0)

/** Returns the stored form of the owners; equal owners have equal texts. */
const ownersText = (owners: readonly string[]): string | null => (owners.length === 0 ? null : JSON.stringify(owners))

const insertManyBindings = statement<{ readonly rows: string }, unknown>((_db, { rows }, dialect) => {
  const member = (name: string) => sql`r.value ->> ${sql.lit(dialect === "sqlite" ? `$.${name}` : name)}`
  const texts = ["id", "organization_id", "workspace_id", "tag_id", "key", "key_folded", "value", "owners"]
  const instant = dialect === "sqlite" ? member("created_at") : sql`(${member("created_at")})::bigint`
  const source =
    dialect === "sqlite" ? sql`json_each(${rows}) as r` : sql`json_array_elements(${rows}::json) as r (value)`
  const flag = dialect === "sqlite" ? member("is_binding") : sql`(${member("is_binding")})::smallint`
  return sql`insert into workspace_bindings (${sql.join(texts.map((name) => sql.ref(name)))}, created_at, is_binding)
    select ${sql.join(texts.map(member))}, ${instant}, ${flag} from ${source}`
})

const bindingColumns = (
  { id, key, value, createdAt, owners }: Omit<TagBinding, "tagId" | "isTag" | "isBinding">,
  { organizationId }: Taggable,
) => ({
  id,
  organization_id: organizationId,
  key,
  key_folded: foldTag(key),
  value,
  created_at: createdAt,
  owners: ownersText(owners),
})

function* chunks<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += rowsPerInsert) yield rows.slice(start, start + rowsPerInsert)
}

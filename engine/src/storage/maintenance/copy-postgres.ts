// PostgreSQL as one side of a copy: one separate connection, without the timeouts of servers.
import { Client, DatabaseError, types } from "pg"
import { sql } from "kysely"
import {
  type Cell,
  type CopiedColumn,
  type CopiedTable,
  keyTerms,
  keyValues,
  pageLimits,
  quoted,
  type Row,
  type TableShape,
} from "./copied-table.ts"
import { beginningCopy, CopyRefused, type CopySource, type CopyTarget } from "./copy-side.ts"
import { unfinishedCopy } from "../schema/migrate.ts"
import { faultOf } from "../postgres/postgres-errors.ts"
import { unreachableDatabase } from "../postgres/postgres.ts"

const applicationName = "chancery storage copy"
/** `application_name` of servers (postgres.ts). */
const serverName = "chancery"
/** Advisory lock of a copy into a database ("copying" in ASCII). */
const copyLock = "27988551558327911"
const connectTimeoutMs = 5_000

/** Returns the applied migrations; none if there are no tables. */
export async function appliedInPostgres(url: string): Promise<readonly string[]> {
  await using connection = await Connection.open(url)
  const tables = (await connection.rows(tableNames)).map(([name]) => String(name))
  if (tables.includes("migrations"))
    return (await connection.rows("select name from migrations order by position")).map(([name]) => String(name))
  if (tables.length > 0)
    throw new CopyRefused(`The database contains tables of other programs, such as ${tables[0]}; use another database.`)
  return []
}

export async function openPostgresSource(url: string): Promise<CopySource> {
  await using opening = new AsyncDisposableStack()
  const connection = opening.use(await Connection.open(url))
  await rejectServers(connection)
  const tables = (await connection.rows(tableNames)).map(([name]) => quoted(String(name)))
  await connection.run("begin isolation level repeatable read")
  try {
    // This is the first statement, so that the snapshot is taken after all writes have ended.
    await connection.run(`lock table ${tables.join(", ")} in share mode nowait`)
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== lockNotAvailable) throw error
    throw new CopyRefused("A running server writes to the database; stop it first.", {
      cause: error,
      isTemporary: true,
    })
  }
  const views = tables.includes(quoted("events")) ? await numberEvents(connection) : noViews
  opening.move()
  return new PostgresEnd(connection, views)
}

/** Opens a database to which `beginPostgresCopy` was applied. */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  await using opening = new AsyncDisposableStack()
  const connection = opening.use(await Connection.open(url))
  const [row] = await connection.rows("select pg_try_advisory_lock($1)::int", [copyLock])
  if (row?.[0] !== 1n)
    throw new CopyRefused("Another copy into this database is running; wait until it ends.", { isTemporary: true })
  const unfinished = await connection.rows("select 1 from migrations where name = $1", [unfinishedCopy])
  if (unfinished.length === 0) throw new CopyRefused("Another copy into this database has just ended.")
  opening.move()
  return new PostgresEnd(connection, noViews)
}

/**
 * Deletes rows that migrations inserted: the source has them as well. Drops foreign keys until all rows are written: each table would need
 * another insertion order, and for some there is none.
 */
export const beginPostgresCopy = beginningCopy(async (session) => {
  await session.execute(
    sql.raw(`create table unfinished_copy_references as
      select r.conrelid::regclass::text as table_name, r.conname::text as name, pg_get_constraintdef(r.oid) as definition
      from pg_constraint as r join pg_class as c on c.oid = r.conrelid join pg_namespace as n on n.oid = c.relnamespace
      where r.contype = 'f' and r.conparentid = 0 and n.nspname = current_schema()`),
  )
  const references = await session.queryMany(
    sql<{ table_name: string; name: string }>`select table_name, name from unfinished_copy_references`,
  )
  for (const { table_name: table, name } of references)
    await session.execute(sql.raw(`alter table ${table} drop constraint ${quoted(name)}`))
  const tables = await session.queryMany(sql<{ name: string }>`select name from (${sql.raw(tableNames)}) as t
    where name not in ('migrations', 'unfinished_copy_references')`)
  for (const { name } of tables) await session.execute(sql`delete from ${sql.table(name)}`)
})

const tableNames = `select c.relname::text as name from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition order by 1`

async function rejectServers(connection: Connection): Promise<void> {
  const [row] = await connection.rows(
    "select count(*) from pg_stat_activity where datname = current_database() and application_name = $1",
    [serverName],
  )
  if (row?.[0] === 0n) return
  throw new CopyRefused("Running servers are connected to the database; stop them first.", { isTemporary: true })
}

/** Relation and key by which a table is read, if not by its own. */
type Views = ReadonlyMap<string, { readonly relation: string; readonly key: readonly string[] }>
const noViews: Views = new Map()

/**
 * Positions in the event feed contain transaction ids of this server. On another server they would be meaningless and hide new events. The
 * copy therefore puts all events before its first transaction (id 0), in their order. Events keep their numbers, unless a later transaction
 * has a smaller number than an earlier one.
 */
async function numberEvents(connection: Connection): Promise<Views> {
  await connection.run(`create temp table copied_places on commit drop as
    select transaction_id, number, (max(number - place) over (order by place) + place)::bigint as place
    from (select transaction_id, number, row_number() over (order by transaction_id, number) as place from events) as e`)
  await connection.run("create unique index on pg_temp.copied_places (place)")
  await connection.run("create unique index on pg_temp.copied_places (transaction_id, number)")
  await connection.run("analyze pg_temp.copied_places")
  const place = (transaction: string, number: string) => `coalesce(
    (select p.place from pg_temp.copied_places as p where (p.transaction_id, p.number) <= (${transaction}, ${number})
      order by p.transaction_id desc, p.number desc limit 1),
    (select min(p.place) - 1 from pg_temp.copied_places as p), 0)`
  const replaced = (alias: string, columns: Readonly<Record<string, string>>) => async (table: string) => {
    const names = (await connection.rows(columnsOf, [table])).map(([name]) => String(name))
    return names.map((name) => `${columns[name] ?? `${alias}.${quoted(name)}`} as ${quoted(name)}`).join(", ")
  }
  const views = new Map<string, { relation: string; key: readonly string[] }>()
  const view = async (
    table: string,
    key: readonly string[],
    columns: (table: string) => Promise<string>,
    from: string,
  ) => {
    await connection.run(`create temp view copied_${table} as select ${await columns(table)} from ${from}`)
    views.set(table, { relation: `pg_temp.copied_${table}`, key })
  }
  await view(
    "events",
    ["number"],
    replaced("e", { transaction_id: "0::bigint", number: "q.place" }),
    "pg_temp.copied_places as q join events as e on (e.transaction_id, e.number) = (q.transaction_id, q.number)",
  )
  await view(
    "swept_events",
    ["id"],
    replaced("s", { transaction_id: "0::bigint", number: place("s.transaction_id", "s.number") }),
    "swept_events as s",
  )
  const tables = await connection.rows(`select 1 from (${tableNames}) as t where name = 'webhooks'`)
  if (tables.length > 0)
    await view(
      "webhooks",
      ["id"],
      replaced("w", {
        cursor_transaction: "0::bigint",
        cursor_number: place("w.cursor_transaction", "w.cursor_number"),
        pending_transaction: "case when w.pending_transaction is not null then 0::bigint end",
        pending_number: `case when w.pending_number is not null then ${place("w.pending_transaction", "w.pending_number")} end`,
      }),
      "webhooks as w",
    )
  return views
}

const writtenTables = `select c.oid::regclass::text from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind = 'r' and pg_relation_size(c.oid) > 0`

const lockNotAvailable = "55P03"

const columnsOf = `select a.attname::text, format_type(a.atttypid, null), a.attnotnull::int
  from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relname = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`

/** Selects the unique keys: the primary key first, then by name. A partitioned table has them on its partitions, all with the same keys. */
const keysOf = `select array_to_json(array(
    select a.attname from unnest(i.indkey::smallint[]) with ordinality as k (attnum, place)
    join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = k.attnum order by k.place
  ))::text
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  left join pg_partitioned_table as p on p.partrelid = c.oid
  join pg_index as i on i.indrelid = coalesce(p.partdefid, c.oid)
  join pg_class as x on x.oid = i.indexrelid
  where n.nspname = current_schema() and c.relname = $1 and i.indisunique and i.indpred is null and i.indexprs is null
  order by i.indisprimary desc, x.relname`

/** Selects identity columns with their sequences. */
const sequences = `select c.relname::text, a.attname::text,
    pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)
  from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = current_schema() and a.attidentity <> '' and not a.attisdropped and not c.relispartition`

class PostgresEnd implements CopySource, CopyTarget {
  readonly #connection: Connection
  readonly #views: Views

  constructor(connection: Connection, views: Views) {
    this.#connection = connection
    this.#views = views
  }

  async shapes(): Promise<readonly TableShape[]> {
    const shapes: TableShape[] = []
    for (const [name] of await this.#connection.rows(tableNames)) shapes.push(await this.#shapeOf(String(name)))
    return shapes
  }

  async #shapeOf(name: string): Promise<TableShape> {
    const columns = (await this.#connection.rows(columnsOf, [name])).map(
      ([column, type, isRequired]): CopiedColumn => ({
        name: String(column),
        kind: kindOf(String(type)),
        isNullable: isRequired === 0n,
      }),
    )
    const required = new Set(columns.flatMap((column) => (column.isNullable ? [] : [column.name])))
    const keys = (await this.#connection.rows(keysOf, [name]))
      .map(([key]) => JSON.parse(String(key)) as string[])
      .filter((key) => key.every((column) => required.has(column)))
    const viewed = this.#views.get(name)?.key
    return { name, columns, keys: viewed === undefined ? keys : [viewed] }
  }

  async count({ name }: CopiedTable): Promise<number> {
    const [row] = await this.#connection.rows(`select count(*) from ${quoted(name)}`)
    return Number(row?.[0])
  }

  // The database knows the length of a row without reading it. A page ends with the row that exceeds the limit.
  async page(table: CopiedTable, after: Row | undefined): Promise<readonly Row[]> {
    const terms = keyTerms(table.key, "''::bytea").join(", ")
    const beyond = after === undefined ? [] : keyValues(table, after)
    const where =
      after === undefined ? "" : `where (${terms}) > (${beyond.map((_, index) => `$${index + 1}`).join(", ")})`
    const lengths = table.columns.flatMap(({ name, kind }) =>
      kind === "integer" ? [] : [`coalesce(octet_length(${quoted(name)}), 0)`],
    )
    const names = namesOf(table)
    return this.#connection.rows(
      `select ${names} from (
        select ${names}, sum(${["0", ...lengths].join(" + ")}) over (
          order by ${terms} rows between unbounded preceding and 1 preceding) as bytes_before
        from ${this.#relation(table)} ${where} order by ${terms} limit ${pageLimits.rows}
      ) as page where coalesce(bytes_before, 0) < ${pageLimits.bytes} order by ${terms}`,
      beyond,
    )
  }

  #relation = ({ name }: CopiedTable): string => this.#views.get(name)?.relation ?? quoted(name)

  async lastNumbers(): Promise<ReadonlyMap<string, bigint>> {
    const numbers = new Map<string, bigint>()
    for (const [table, , sequence] of await this.#connection.rows(sequences)) {
      const [row] = await this.#connection.rows(`select last_value from ${String(sequence)} where is_called`)
      if (row !== undefined) numbers.set(String(table), row[0] as bigint)
    }
    return numbers
  }

  async lastRow(table: CopiedTable): Promise<Row | undefined> {
    const order = keyTerms(table.key, "''::bytea").map((term) => `${term} desc`)
    const [row] = await this.#connection.rows(
      `select ${namesOf(table)} from ${quoted(table.name)} order by ${order.join(", ")} limit 1`,
    )
    return row
  }

  async write(table: CopiedTable, rows: readonly Row[]): Promise<void> {
    const lists = table.columns.map((_, index) => rows.map((row) => row[index] ?? null))
    const sources = table.columns.map(({ kind }, index) => `$${index + 1}::${arrays[kind]}`)
    await this.#connection.run(
      `insert into ${quoted(table.name)} (${namesOf(table)}) overriding system value
        select * from unnest(${sources.join(", ")})`,
      lists,
    )
  }

  async finish(lastNumbers: ReadonlyMap<string, bigint>): Promise<void> {
    await this.#connection.run("begin")
    const references = await this.#connection.rows(
      "select table_name, name, definition from unfinished_copy_references order by table_name, name",
    )
    for (const [table, name, definition] of references)
      await this.#connection.run(
        `alter table ${String(table)} add constraint ${quoted(String(name))} ${String(definition)}`,
      )
    for (const [table, column, sequence] of await this.#connection.rows(sequences)) {
      const last = lastNumbers.get(String(table)) ?? 0n
      await this.#connection.run(
        `select setval($1, greatest((select max(${quoted(String(column))}) from ${quoted(String(table))}), $2::bigint, 1))`,
        [String(sequence), last],
      )
    }
    await this.#connection.run("drop table unfinished_copy_references")
    await this.#connection.run("delete from migrations where name = $1", [unfinishedCopy])
    await this.#connection.run("commit")
    // Without statistics, the planner assumes an empty database until autovacuum has run. Empty tables stay unanalyzed: analyzed ones would
    // be expected to stay empty, and partitions have yet to fill.
    for (const [table] of await this.#connection.rows(writtenTables))
      await this.#connection.run(`analyze ${String(table)}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]()
  }
}

const namesOf = ({ columns }: CopiedTable): string => columns.map(({ name }) => quoted(name)).join(", ")

const arrays: Readonly<Record<CopiedColumn["kind"], string>> = { text: "text[]", integer: "bigint[]", blob: "bytea[]" }

function kindOf(type: string): CopiedColumn["kind"] {
  const kinds: Readonly<Record<string, CopiedColumn["kind"]>> = {
    text: "text",
    bigint: "integer",
    smallint: "integer",
    integer: "integer",
    bytea: "blob",
  }
  const kind = kinds[type]
  if (kind === undefined) throw new CopyRefused(`A column has the type ${type}, which Chancery does not use.`)
  return kind
}

/** Reads integers of every size as `bigint`, as SQLite returns them. */
const integerTypes: ReadonlySet<number> = new Set([types.builtins.INT2, types.builtins.INT4, types.builtins.INT8])
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: "text" | "binary") =>
  integerTypes.has(oid) ? BigInt : typeParserOf(oid, format)
const typeParserOf: (oid: number, format?: "text" | "binary") => (value: string) => unknown = types.getTypeParser

class Connection implements AsyncDisposable {
  readonly #client: Client

  private constructor(client: Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Connection> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: applicationName,
      types: { getTypeParser },
    })
    // The pending query fails with the error.
    client.on("error", () => {})
    await client.connect().catch((error: unknown) => {
      // Separates temporary failures from those that an operator must fix.
      throw faultOf(error) === "other" ? error : unreachableDatabase(error)
    })
    const connection = new Connection(client)
    await connection.run("set statement_timeout = 0")
    await connection.run("set idle_in_transaction_session_timeout = 0")
    return connection
  }

  async rows(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const { rows } = await this.#client.query<Cell[]>({ text, values: [...values], rowMode: "array" })
    return rows
  }

  async run(text: string, values: readonly unknown[] = []): Promise<void> {
    await this.#client.query(text, [...values])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

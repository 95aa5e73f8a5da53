import {
  DummyDriver,
  type Expression,
  Kysely,
  type LimitNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely"
import { rejectUnstorableText } from "../../core/text.ts"
import type { Tables } from "../schema/tables.ts"
import {
  type Batch,
  type Compilable,
  type DialectName,
  Placeholder,
  placeholders,
  type Statement,
} from "./query-runner.ts"

/**
 * Appends `+ 0` to limits. If a limit is a bare parameter, SQLite prepares the statement again at each binding, which takes ten times as
 * long as a small query. https://www.sqlite.org/c3ref/prepare.html names the bound values that influence a plan.
 */
class SteadyLimits extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node)
    if (ValueNode.is(node.limit)) this.append(" + 0")
  }
}

/** Kysely instances that build and compile queries. Their driver executes nothing. */
export const coldKysely: Record<DialectName, Kysely<Tables>> = {
  sqlite: new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SteadyLimits(),
    },
  }),
  postgres: new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
}

/**
 * Returns `column in (…)` with the whole list as one parameter, so that one prepared statement serves lists of any length. `list` is an
 * array or its placeholder.
 */
export function among(
  dialect: DialectName,
  column: Expression<unknown>,
  list: readonly (string | number)[],
): RawBuilder<boolean> {
  return dialect === "sqlite"
    ? sql<boolean>`${column} in (select value from json_each(${sql.val(list)}))`
    : sql<boolean>`${column} = any(${sql.val(list)})`
}

export type QueryParameters = Readonly<Record<string, unknown>>

/** SQL text with its values in positional order. */
export interface Bound {
  readonly text: string
  readonly values: readonly unknown[]
  /** True for a `Statement`, which is worth preparing. */
  readonly prepared: boolean
}

export const isStatement = (query: object): query is Statement<unknown, unknown> => "build" in query

export function bind(
  dialect: DialectName,
  query: Compilable<unknown> | Statement<never, unknown>,
  parameters: unknown,
): Bound {
  if (!isStatement(query)) {
    const compiled = (query as Compilable<unknown>).compile(coldKysely[dialect])
    return {
      text: compiled.sql,
      values: compiled.parameters.map((value) => checked(value)),
      prepared: false,
    }
  }
  const compiled = (query.compiled[dialect] ??= compile(dialect, query))
  const values: unknown[] = []
  for (const parameter of compiled.parameters) {
    values.push(
      checked(
        parameter instanceof Placeholder ? (parameters as QueryParameters)[parameter.name] : parameter,
        parameter,
      ),
    )
  }
  return { text: compiled.sql, values, prepared: true }
}

/**
 * Returns a batch as one PostgreSQL statement. The changes become parts of its `with` clause, which run even if the query does not read
 * them.
 */
export function bindBatch({ changes, query }: Batch<unknown>): Bound {
  const parts = [...changes, query].map(({ statement, parameters }) => bind("postgres", statement, parameters))
  let before = 0
  const texts = parts.map(({ text, values }) => {
    const first = before
    before += values.length
    return first === 0 ? text : text.replaceAll(/\$(\d+)/g, (_, place: string) => `$${Number(place) + first}`)
  })
  const written = texts.slice(0, -1).map((text, index) => `change_${index + 1} as (${text})`)
  const text = written.length === 0 ? texts.join("") : `with ${written.join(", ")} ${texts.at(-1)}`
  return { text, values: parts.flatMap(({ values }) => values), prepared: true }
}

function compile(dialect: DialectName, query: Statement<unknown, unknown>) {
  const db = coldKysely[dialect]
  const { sql: text, parameters } = query.build(db, placeholders(), dialect).compile(db)
  return { sql: text, parameters }
}

/** Returns the SQL text of a query, in which values appear as placeholders only. */
export function textOf(dialect: DialectName, query: Compilable<unknown> | Statement<never, unknown>): string {
  if (!isStatement(query)) return (query as Compilable<unknown>).compile(coldKysely[dialect]).sql
  return (query.compiled[dialect] ??= compile(dialect, query)).sql
}

/** Throws for values that one of the databases cannot store, on both of them. `undefined` indicates a forgotten parameter. */
function checked(value: unknown, parameter?: unknown): unknown {
  if (typeof value === "string") {
    rejectUnstorableText(value)
    return value
  }
  if (Array.isArray(value)) {
    for (const item of value) checked(item, parameter)
    return value
  }
  if (value === undefined || typeof value === "boolean" || value instanceof Placeholder) {
    const name = parameter instanceof Placeholder ? ` "${parameter.name}"` : ""
    throw new TypeError(`a query parameter${name} is ${value instanceof Placeholder ? "a placeholder" : String(value)}`)
  }
  return value
}

/**
 * Returns a condition for rows whose column contains the text. It uses no pattern, so the text needs no escaping and may be of any length.
 */
export const containing = (dialect: DialectName, column: Expression<unknown>, text: string): RawBuilder<boolean> =>
  dialect === "sqlite" ? sql<boolean>`instr(${column}, ${text}) > 0` : sql<boolean>`strpos(${column}, ${text}) > 0`

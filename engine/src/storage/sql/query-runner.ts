// Queries of one unit of work, on either dialect. Kysely builds and types the SQL; a `QueryRunner` executes it. Queries on hot paths are
// compiled once (`statement`), because building one costs more than SQLite needs to execute it.
import type { CompiledQuery, Kysely } from "kysely"
import type { Tables } from "../schema/tables.ts"

export type DialectName = "sqlite" | "postgres"

/** Query that Kysely can compile: a select, insert … returning, or `sql\`…\``. */
export interface Compilable<Row> {
  compile(db: Kysely<Tables>): CompiledQuery<Row>
}

export interface QueryRunner {
  readonly dialect: DialectName
  /** Kysely without a connection: it builds and compiles queries of this dialect and executes none. */
  readonly db: Kysely<Tables>
  queryMany<Row>(query: Compilable<Row>): Promise<Row[]>
  queryMany<Parameters, Row>(query: Statement<Parameters, Row>, parameters: Parameters): Promise<Row[]>
  queryOne<Row>(query: Compilable<Row>): Promise<Row | undefined>
  queryOne<Parameters, Row>(query: Statement<Parameters, Row>, parameters: Parameters): Promise<Row | undefined>
  /** Executes the changes and returns the rows of the batch's query. PostgreSQL needs one round trip for all of it. */
  executeBatch<Row>(batch: Batch<Row>): Promise<Row[]>
  /** True once a statement other than a plain `select` has run. */
  readonly hasWritten: boolean
  /** Returns the number of changed rows. Throws `UniqueViolation` and `ReferenceViolation` (foreign keys). */
  execute(query: Compilable<unknown>): Promise<number>
  execute<Parameters>(query: Statement<Parameters, unknown>, parameters: Parameters): Promise<number>
}

/**
 * Changes, followed by a query. PostgreSQL executes them as one statement, whose parts do not see each other's writes. The changes must
 * therefore write different tables, and the query must read none of these.
 */
export interface Batch<Row> {
  readonly changes: readonly BatchPart<unknown>[]
  readonly query: BatchPart<Row>
}

export interface BatchPart<Row> {
  readonly statement: Statement<never, Row>
  readonly parameters: unknown
}

export const batchPart = <Parameters, Row>(
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): BatchPart<Row> => ({ statement, parameters })

/** Query that is compiled once per dialect. Each run looks `parameters` up by name. */
export interface Statement<Parameters, Row> {
  readonly build: (db: Kysely<Tables>, parameters: Parameters, dialect: DialectName) => Compilable<Row>
  /** Compiled text, one slot per dialect. `bind` fills it at first use. */
  readonly compiled: Partial<Record<DialectName, { readonly sql: string; readonly parameters: readonly unknown[] }>>
}

export const statement = <Parameters, Row>(
  build: (db: Kysely<Tables>, parameters: Parameters, dialect: DialectName) => Compilable<Row>,
): Statement<Parameters, Row> => ({ build, compiled: {} })

/** Represents the value of a parameter in the compiled text of a statement. */
export class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Returns an object that has a placeholder for every parameter that `build` reads. */
export const placeholders = <Parameters>(): Parameters =>
  new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as Parameters

/** Violated unique constraint. The constraint is named so that repositories can report the field in conflict. */
export class UniqueViolation extends Error {
  /** Lower-cased text that names the columns (SQLite) or the constraint (PostgreSQL). */
  readonly constraint: string
  constructor(constraint: string, options?: ErrorOptions) {
    super(`unique constraint violated: ${constraint}`, options)
    this.name = "UniqueViolation"
    this.constraint = constraint.toLowerCase()
  }
}

/** A row that the transaction needs was committed after its snapshot. The transaction is run again. */
export class OutdatedSnapshot extends Error {
  constructor(options?: ErrorOptions) {
    super("a concurrent transaction changed rows that this one read", options)
    this.name = "OutdatedSnapshot"
  }
}

export class ReferenceViolation extends Error {
  constructor(options?: ErrorOptions) {
    super("a referenced row does not exist or is still referenced", options)
    this.name = "ReferenceViolation"
  }
}

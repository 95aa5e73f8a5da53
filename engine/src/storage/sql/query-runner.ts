// One unit of work against the database, on either dialect. Kysely builds and types the SQL; a session runs it.
// Queries on hot paths are compiled once (`statement`), because building one costs more than SQLite needs to answer it.
import type { CompiledQuery, Kysely } from "kysely"
import type { Tables } from "../schema/tables.ts"

export type DialectName = "sqlite" | "postgres"

/** Anything Kysely can compile: a select, insert … returning, or `sql\`…\``. */
export interface Compilable<Row> {
  compile(db: Kysely<Tables>): CompiledQuery<Row>
}

export interface QueryRunner {
  readonly dialect: DialectName
  /** A cold Kysely: it builds and compiles for this dialect and is never executed itself. */
  readonly db: Kysely<Tables>
  queryMany<Row>(query: Compilable<Row>): Promise<Row[]>
  queryMany<Parameters, Row>(query: Statement<Parameters, Row>, parameters: Parameters): Promise<Row[]>
  queryOne<Row>(query: Compilable<Row>): Promise<Row | undefined>
  queryOne<Parameters, Row>(query: Statement<Parameters, Row>, parameters: Parameters): Promise<Row | undefined>
  /** Returns the rows of the batch's query. PostgreSQL takes one round trip for all of it. */
  executeBatch<Row>(batch: Batch<Row>): Promise<Row[]>
  /** Whether anything but plain queries has run. */
  readonly hasWritten: boolean
  /** Number of rows changed. Unique violations throw `UniqueViolation`, foreign-key ones `ReferenceViolation`. */
  execute(query: Compilable<unknown>): Promise<number>
  execute<Parameters>(query: Statement<Parameters, unknown>, parameters: Parameters): Promise<number>
}

/**
 * Changes, and a query after them. On PostgreSQL they are one statement in which none sees what another has written: they change
 * different tables, and the query reads none of these.
 */
export interface Batch<Row> {
  readonly changes: readonly BatchPart<unknown>[]
  readonly query: BatchPart<Row>
}

/** One statement of a batch, with its parameters. */
export interface BatchPart<Row> {
  readonly statement: Statement<never, Row>
  readonly parameters: unknown
}

export const batchPart = <Parameters, Row>(
  statement: Statement<Parameters, Row>,
  parameters: Parameters,
): BatchPart<Row> => ({ statement, parameters })

/** A query compiled once per dialect; `parameters` are looked up by name at each run. */
export interface Statement<Parameters, Row> {
  readonly build: (db: Kysely<Tables>, parameters: Parameters, dialect: DialectName) => Compilable<Row>
  /** Filled by the session at first use, one slot per dialect. */
  readonly compiled: Partial<Record<DialectName, { readonly sql: string; readonly parameters: readonly unknown[] }>>
}

export const statement = <Parameters, Row>(
  build: (db: Kysely<Tables>, parameters: Parameters, dialect: DialectName) => Compilable<Row>,
): Statement<Parameters, Row> => ({ build, compiled: {} })

/** Stands for a value in a statement's text until it runs. */
export class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Hands a placeholder to `build` for every parameter it names. */
export const placeholders = <Parameters>(): Parameters =>
  new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) }) as Parameters

/** The constraint is named, so that a row mapper can tell which field was taken. */
export class UniqueViolation extends Error {
  /** Lower-cased text that names the columns (SQLite) or the constraint (PostgreSQL). */
  readonly constraint: string
  constructor(constraint: string, options?: ErrorOptions) {
    super(`unique constraint violated: ${constraint}`, options)
    this.name = "UniqueViolation"
    this.constraint = constraint.toLowerCase()
  }
}

/** The transaction met a row that was committed after its snapshot was taken, and is run again. */
export class OutdatedSnapshot extends Error {
  constructor(options?: ErrorOptions) {
    super("a concurrent transaction has changed what this one has read", options)
    this.name = "OutdatedSnapshot"
  }
}

export class ReferenceViolation extends Error {
  constructor(options?: ErrorOptions) {
    super("a referenced row does not exist or is still referenced", options)
    this.name = "ReferenceViolation"
  }
}

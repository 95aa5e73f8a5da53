import { bind, bindBatch, type Bound, coldKysely } from "./dialect.ts"
import type { Batch, Compilable, DialectName, QueryRunner, Statement } from "./query-runner.ts"

export type Fetch = "all" | "first" | "run"

/**
 * `QueryRunner` of one unit of work. It rejects queries after the unit has settled, and after its first failed statement. PostgreSQL
 * rejects the latter too, so a unit of work that swallows an error still fails.
 */
export abstract class UnitOfWork implements QueryRunner {
  readonly dialect: DialectName
  abstract readonly hasWritten: boolean
  #settled = false
  #failure: { readonly error: unknown } | undefined

  constructor(dialect: DialectName) {
    this.dialect = dialect
  }

  get db() {
    return coldKysely[this.dialect]
  }

  queryMany<Row>(query: Compilable<Row> | Statement<never, Row>, parameters?: unknown): Promise<Row[]> {
    return this.#answer("all", query, parameters) as Promise<Row[]>
  }

  queryOne<Row>(query: Compilable<Row> | Statement<never, Row>, parameters?: unknown): Promise<Row | undefined> {
    return this.#answer("first", query, parameters) as Promise<Row | undefined>
  }

  async executeBatch<Row>(batch: Batch<Row>): Promise<Row[]> {
    if (this.dialect === "postgres") return this.#executed("all", () => bindBatch(batch)) as Promise<Row[]>
    for (const { statement, parameters } of batch.changes) await this.execute(statement, parameters)
    return this.queryMany(batch.query.statement, batch.query.parameters)
  }

  execute(query: Compilable<unknown> | Statement<never, unknown>, parameters?: unknown): Promise<number> {
    return this.#answer("run", query, parameters) as Promise<number>
  }

  /** Error of the first failed statement, even if the unit of work caught it. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  settle(): void {
    this.#settled = true
  }

  /** Runs one statement. Throws translated driver errors. */
  protected abstract fetchBound(fetch: Fetch, bound: Bound): unknown

  // Not async: on SQLite the result is already available, and each needless promise costs a tenth of the query.
  #answer(fetch: Fetch, query: Compilable<unknown> | Statement<never, unknown>, parameters: unknown): Promise<unknown> {
    return this.#executed(fetch, () => bind(this.dialect, query, parameters))
  }

  #executed(fetch: Fetch, bound: () => Bound): Promise<unknown> {
    if (this.#settled)
      return Promise.reject(new Error("the unit of work has ended; its repositories cannot be used any more"))
    if (this.#failure !== undefined) {
      return Promise.reject(
        new Error("the unit of work failed and must be rolled back", { cause: this.#failure.error }),
      )
    }
    try {
      const answer = this.fetchBound(fetch, bound())
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#fail(error)) : Promise.resolve(answer)
    } catch (error) {
      return this.#fail(error)
    }
  }

  async #fail(error: unknown): Promise<never> {
    this.#failure ??= { error }
    throw error
  }
}

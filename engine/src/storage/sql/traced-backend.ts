// Spans of units of work and their statements, if tracing is enabled. Work outside any trace, such as a job's check for work, creates no
// spans. It must not inherit the trace of a request that shares its commit.
import { during, recordedSpan, type Span, type SpanAttributes, type Tracer, untraced } from "../../core/tracing.ts"
import type { Backend } from "./backend.ts"
import { bindBatch, textOf } from "./dialect.ts"
import type { Compilable, DialectName, QueryRunner, Statement } from "./query-runner.ts"

type Work<T> = (session: QueryRunner) => Promise<T>

/** Runs a unit of work in a span and passes that span to `run`. */
export type TracedRun = <T>(
  unit: { readonly kind: "read" | "write"; readonly attributes?: SpanAttributes },
  work: Work<T>,
  run: (work: Work<T>, span?: Span) => Promise<T>,
) => Promise<T>

export function tracedRun(dialect: DialectName, tracer: Tracer, stopwatch: () => number): TracedRun {
  const system = systemOf(dialect)
  return ({ kind, attributes }, work, run) => {
    const parent = recordedSpan(tracer)
    if (parent === undefined) return run((session) => untraced(tracer, () => work(session)))
    const span = parent.child(`storage ${kind}`, {
      attributes: { ...system, "chancery.storage.kind": kind, ...attributes },
    })
    const began = stopwatch()
    let attempts = 0
    return during(tracer, span, () =>
      run((session) => {
        attempts += 1
        if (attempts === 1) span.set({ "chancery.storage.wait_ms": stopwatch() - began })
        else span.set({ "chancery.storage.attempts": attempts })
        return tracer.within(span, () => work(tracedSession(session, span)))
      }, span),
    )
  }
}

export function tracedBackend(backend: Backend, tracer: Tracer, stopwatch: () => number): Backend {
  const { dialect } = backend
  const traced = tracedRun(dialect, tracer, stopwatch)
  return {
    dialect,
    get commitCount() {
      return backend.commitCount
    },
    read: (work) => traced({ kind: "read" }, work, (work) => backend.read(work)),
    transact: (work, options) =>
      traced({ kind: "write" }, work, (work, span) => backend.transact(work, { ...options, span })),
    readSingle(work) {
      const span = recordedSpan(tracer)
      return backend.readSingle(
        span === undefined
          ? (session) => untraced(tracer, () => work(session))
          : (session) => tracer.within(span, () => work(tracedSession(session, span))),
      )
    },
    exclusively: (work) => backend.exclusively(work),
    alter: (work) => backend.alter(work),
    close: () => backend.close(),
  }
}

function tracedSession(session: QueryRunner, parent: Span): QueryRunner {
  const { dialect } = session
  const traced = <T>(
    { name, attributes }: Description,
    answer: () => Promise<T>,
    rowsOf: (value: T) => number | undefined,
  ): Promise<T> => {
    const span = parent.child(name, { kind: "client", attributes })
    return answer().then(
      (value) => {
        span.set({ "db.response.returned_rows": rowsOf(value) })
        span.end()
        return value
      },
      (error: unknown) => {
        span.fail(error)
        span.end()
        throw error
      },
    )
  }
  const own: QueryRunner = {
    dialect,
    db: session.db,
    get hasWritten() {
      return session.hasWritten
    },
    async executeBatch(batch) {
      if (dialect === "postgres")
        return traced(
          descriptionOf(dialect, bindBatch(batch).text),
          () => session.executeBatch(batch),
          (rows) => rows.length,
        )
      // SQLite runs them as separate statements.
      for (const { statement, parameters } of batch.changes) await own.execute(statement, parameters as never)
      return own.queryMany(batch.query.statement, batch.query.parameters as never)
    },
    queryMany: (query: Query, parameters?: unknown) =>
      traced(
        describe(dialect, query),
        () => session.queryMany(query as Statement<unknown, never>, parameters),
        (rows) => rows.length,
      ),
    queryOne: (query: Query, parameters?: unknown) =>
      traced(
        describe(dialect, query),
        () => session.queryOne(query as Statement<unknown, never>, parameters),
        (row) => (row === undefined ? 0 : 1),
      ),
    execute: (query: Query, parameters?: unknown) =>
      traced(
        describe(dialect, query),
        () => session.execute(query as Statement<unknown, never>, parameters),
        () => undefined,
      ),
  }
  return own
}

type Query = Compilable<never> | Statement<never, never>

interface Description {
  readonly name: string
  readonly attributes: SpanAttributes
}

const systemOf = (dialect: DialectName): SpanAttributes => ({
  "db.system.name": dialect === "sqlite" ? "sqlite" : "postgresql",
})

/**
 * Creates the span of one commit, in the trace of the first unit of work that has one. The spans of the commit and of the other units link
 * to each other.
 */
export function commitSpan(
  dialect: DialectName,
  works: readonly { readonly span: Span | undefined }[],
): Span | undefined {
  // Every commit calls this, and without tracing it must cost nothing more.
  if (!works.some(({ span }) => span !== undefined)) return undefined
  const [first, ...others] = works.flatMap(({ span }) => span ?? [])
  const commit = first?.child("COMMIT", {
    kind: "client",
    attributes: {
      ...systemOf(dialect),
      "db.operation.name": "COMMIT",
      "chancery.storage.batch_size": works.length,
    },
    links: others,
  })
  if (commit?.isRecorded === true) for (const other of others) other.link(commit)
  return commit
}

/** Statements are constants of the program, so this map stays small. Ad-hoc queries get no entry that outlives them. */
const described = new WeakMap<Query, Partial<Record<DialectName, Description>>>()

function describe(dialect: DialectName, query: Query): Description {
  const known = described.get(query) ?? {}
  described.set(query, known)
  return (known[dialect] ??= descriptionOf(dialect, textOf(dialect, query)))
}

function descriptionOf(dialect: DialectName, written: string): Description {
  const text = written.trim().replaceAll(/\s+/g, " ")
  // All changes may be in the `with` clause, so the first change in it names the operation.
  const first = /^with\b/i.test(text) ? /\b(insert|update|delete|select)\b/i : /(\w+)/
  const operation = (first.exec(text)?.[1] ?? "query").toUpperCase()
  const table = /\b(?:from|into|update) "?(\w+)/i.exec(text)?.[1]
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    attributes: {
      ...systemOf(dialect),
      "db.operation.name": operation,
      "db.collection.name": table,
      "db.query.text": text,
    },
  }
}

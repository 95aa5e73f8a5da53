// Explains every statement that the engine's methods and jobs execute, on a database with many rows. No plan may scan a whole large table
// or sort an unbounded set. The statements are captured as they are sent; they are not copies.
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test, vi } from "vitest"
import { actingFor } from "../../engine/src/acting-for.ts"
import { firstPage } from "../../engine/src/core/page.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { minuteMs } from "../../engine/src/core/time.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import type { Engine, ServedEngine } from "../../engine/src/engine.ts"
import type { InventoryQuery } from "../../engine/src/pki/issuance/certificate-api.ts"
import { sqliteFile } from "../../engine/src/storage/sql/database.ts"
import { fillEveryTable } from "../../engine/testing/filled-store.ts"
import { copyStore } from "../../engine/src/storage/maintenance/store-copy.ts"
import { Client, type DatabaseKind, databaseKinds, temporaryDatabase } from "../../engine/testing/temporary-database.ts"
import { manualClock } from "../../engine/testing/manual-clock.ts"
import { manualTimers } from "../../engine/testing/manual-timers.ts"
import { recordedMetrics } from "../../engine/testing/recorded-metrics.ts"
import type { WorkspaceQuery } from "../../engine/src/workspaces/workspace/workspace-query.ts"
import { newUsers } from "./users.ts"
import { calls, newSubject, type Subject } from "./method-cases.ts"

const [sqlite, postgres] = [kindOf("SQLite file"), kindOf("PostgreSQL")]
const fillRows = 1_000

/** Tables that have few rows in any database, or that are read as a whole because they are small. */
const smallTables = new Set([
  "generations",
  "settings",
  "auth_methods",
  "mounts",
  "policies",
  "swept_events",
  "migrations",
  "tidy_runs",
  "terraform_versions",
])

function kindOf(name: string): DatabaseKind {
  const kind = databaseKinds.find((known) => known.name === name)
  if (kind === undefined) throw new Error(`there is no ${name}`)
  return kind
}

interface Captured {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Keyed by the text of the statement. */
const captured = { sqlite: new Map<string, Captured>(), postgres: new Map<string, Captured>() }
const isOfRows = (text: string): boolean => /^\s*(select|insert|update|delete|with)\b/i.test(text)

function capture(kind: keyof typeof captured) {
  const note = (text: string, values: readonly unknown[]) => {
    if (isOfRows(text) && !captured[kind].has(text)) captured[kind].set(text, { text, values })
  }
  if (kind === "sqlite") {
    const { prepare } = DatabaseSync.prototype
    return vi.spyOn(DatabaseSync.prototype, "prepare").mockImplementation(function (this: DatabaseSync, text, ...rest) {
      note(text, [])
      return prepare.call(this, text, ...rest)
    })
  }
  const query = Client.prototype.query as (...words: readonly unknown[]) => unknown
  return vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...words: unknown[]) {
    const [queryConfig] = words as [{ text?: string; values?: unknown[] }]
    if (queryConfig.text !== undefined) note(queryConfig.text, queryConfig.values ?? [])
    return query.apply(this, words) as never
  })
}

/** Calls every method as permitted callers. Methods that delete or end records come last. Returns the names of those that succeeded. */
async function callEveryMethod(served: ServedEngine): Promise<ReadonlySet<string>> {
  const as = async (token: string): Promise<Engine> => actingFor(served, token)
  const { secret } = await served.tokens.createForUser((await served.users.account()).id, {})
  const root = await as(secret)
  const testUsers = await newUsers({ root, as })
  const subject = await newSubject(testUsers)
  const member = await testUsers.newMemberOn(subject.workspaceId, { access: "read" })
  for (const query of workspaceQueries(subject))
    for (const { engine } of [testUsers.owner, member])
      await engine.workspaces.list(testUsers.organization, query, firstPage)
  for (const query of certificateQueries) await root.pki(subject.mountPath).certificates.search(query)
  const late = [
    /delete|remove|revoke|discard|cancel|tidy|move/i,
    /^(workspaces|teams|mounts|projects)\..*(delete|move)/i,
    /^organizations.delete/,
  ]
  const ends = (name: string) => late.findLastIndex((pattern) => pattern.test(name))
  const answered = new Set<string>()
  for (const [name, call] of Object.entries(calls).toSorted(([one], [other]) => ends(one) - ends(other)))
    for (const engine of [testUsers.owner.engine, root])
      try {
        await call(engine, subject)
        answered.add(name)
      } catch {
        // Statements that ran before the refusal are explained as well.
      }
  return answered
}

const workspaceQueries = ({ projectId }: Subject): readonly WorkspaceQuery[] => [
  ...(["name", "current-run.created-at", "latest-change-at"] as const).flatMap((key) =>
    [false, true].map((descending) => ({ sort: { key, descending } })),
  ),
  { name: "ork" },
  { wildcardName: "*space" },
  { wildcardName: "work*" },
  { wildcardName: "*ork*" },
  { tags: ["net"] },
  { excludeTags: ["net"] },
  { tagged: [{ key: "net" }] },
  { tagged: [{ value: "a" }] },
  { projectId },
  { currentRunStatus: ["pending"] },
]

const instant = Date.UTC(2026, 0, 1)
const certificateQueries: readonly InventoryQuery[] = [
  { name: "web.example.com" },
  { name: "*.example.com" },
  { role: "web" },
  { issuerRef: "default" },
  { issuerRef: "default", role: "web" },
  { expiresAfter: instant },
  { expiresBefore: instant, role: "web" },
  { metadata: "dGVhbQ==" },
  { metadata: "dGVhbQ==", status: ["valid"] },
  ...(["valid", "expired", "revoked"] as const).map((status) => ({ status: [status] })),
  { status: ["revoked", "expired"] },
]

/** Upper bound on the rounds: a job that waits for the database has started, but does not report it yet. */
const jobRounds = 200

/** Returns the names of jobs that did not succeed. */
async function runEveryJob(url: string): Promise<readonly string[]> {
  const clock = manualClock()
  clock.set(Date.now())
  const timers = manualTimers(clock)
  const metrics = recordedMetrics()
  await using _ = await openEmbedded(url, {
    runtime: { ...systemRuntime(), clock },
    metrics,
    timers,
    sealKeys,
    jobs: true,
  })
  const settled = async () => {
    while (metrics.isJobRunning()) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const namesOf = (name: string) => metrics.series(name).map(({ labels }) => String(labels["job"]))
  const idle = () => {
    const done = new Set(namesOf("chancery_job_last_success_timestamp_seconds"))
    return namesOf("chancery_job_running").filter((name) => !done.has(name))
  }
  for (let round = 0; round < jobRounds && idle().length > 0; round += 1) await timers.advance(minuteMs, settled)
  return idle()
}

const sealKeys = { text: Buffer.alloc(32, "plans").toString("base64") }

/** Known problems, each with the reason why it is accepted. The patterns match statements with runs of spaces collapsed to one. */
const accepted: readonly { readonly statement: RegExp; readonly why: string }[] = [
  {
    statement: /^select "k"\."id".* from "tokens" as "k" inner join "teams" as "t" .* order by/,
    why: "tokens of the teams of one organization, in the order of the teams' names",
  },
  {
    statement: /^select .* from "app_installations" as "i" inner join "organizations" as "o" /,
    why: "one for each account of a code host that was connected, and asked for by those who manage them",
  },
  {
    statement: /^select transaction_id as "transaction", number(, at)? from events where .* order by .* limit/,
    why: "the walk in the order of the feed ends with its first rows",
  },
  {
    statement: /^select "m"\."id".* from "organization_memberships" .* order by "u"\."username_folded" limit/,
    why: "members of one organization, in the order of a name that stands with the users",
  },
  {
    statement: /^select "o"\."id".* from "organizations" .* order by "o"\."name_folded" limit/,
    why: "a page of all organizations for an administrator, in the order of an index; or those of one person",
  },
  {
    statement: /^select count\(\*\) as "count" from "(organizations|users)"/,
    why: "administrators are told how many there are",
  },
  {
    statement: /^select "u"\."id".* from "users" as "u" order by "u"\."username_folded" limit/,
    why: "a page of all users for an administrator, in the order of an index",
  },
  {
    statement:
      /^select "g"\."id".* from "team_(projects|workspaces)" as "g" where "g"\."(project|workspace)_id" = .* limit/,
    why: "at most one for each team",
  },
  {
    statement: /^select "w"\."id" from "workspaces" as "w" inner join "projects" .*auto_destroy_settled_at.* limit/,
    why: "a job's walk through workspaces in the order of their ids: what they inherit stands with their projects",
  },
  {
    statement: /^select "t"\."id".* from "tags" as "t" where "t"\."id" in \(select b\.tag_id .* limit/,
    why: "the tags of one workspace",
  },
]

describe.each([
  { database: sqlite, kind: "sqlite", explain: explainSqlite },
  { database: postgres, kind: "postgres", explain: explainPostgres },
] as const)("on $database.name", ({ database, kind, explain }) => {
  test.runIf(database.available)("no statement scans or sorts an unbounded set of rows", async () => {
    await using place = await temporaryDatabase(database, { unused: true })
    const spy = capture(kind)
    try {
      {
        await using engine = await openEmbedded(place.url, { sealKeys })
        const answered = await callEveryMethod(engine)
        const lists = Object.keys(calls).filter((method) => /\.(list|find|search|queue|capacity)/i.test(method))
        expect(lists.filter((method) => !answered.has(method))).toEqual([])
      }
      expect(await runEveryJob(place.url)).toEqual([])
    } finally {
      spy.mockRestore()
    }
    expect(captured[kind].size).toBeGreaterThan(250)
    const found = (await explain()).map(({ problem, text }) => ({ problem, text: text.replaceAll(/\s+/g, " ").trim() }))
    expect(found.filter(({ text }) => !accepted.some(({ statement }) => statement.test(text)))).toEqual([])
  })
})

test("the query plans reveal a missing index", async () => {
  captured.sqlite.clear()
  captured.sqlite.set("", { text: "select id from runs where message = ? order by created_at limit 5", values: [] })
  expect((await explainSqlite()).map(({ problem }) => problem)).toEqual(["SCAN runs", "USE TEMP B-TREE FOR ORDER BY"])
  if (!postgres.available) return
  captured.postgres.clear()
  captured.postgres.set("", { text: "select id from runs where message = $1", values: ["a"] })
  expect((await explainPostgres()).map(({ problem }) => problem)).toEqual(["Seq Scan on runs"])
})

interface Finding {
  readonly problem: string
  readonly text: string
}

async function explainSqlite(): Promise<readonly Finding[]> {
  await using place = await temporaryDatabase(sqlite)
  const file = new DatabaseSync(sqliteFile(place.url) ?? "")
  try {
    const named = (query: string) =>
      new Set(
        file
          .prepare(query)
          .all()
          .map(({ name }) => String(name)),
      )
    const tables = named("select name from pragma_table_list where type = 'table'")
    // A partial index holds only the rows that its statement is about, such as pending or due ones.
    const partialIndexes = named("select name from sqlite_schema where type = 'index' and sql like '% where %'")
    return [...captured.sqlite.values()].flatMap(({ text }) => {
      const names = aliases(text)
      const partial = (line: string) => partialIndexes.has(/ INDEX (\S+)/.exec(line)?.[1] ?? "")
      const plan = file.prepare(`explain query plan ${text}`).all()
      return plan.flatMap(({ detail }) => {
        const line = String(detail)
        if (plan.some((step) => partial(String(step["detail"])))) return []
        const scanned = /^SCAN (\S+)/.exec(line)?.[1]
        const table = scanned === undefined ? undefined : (names.get(scanned) ?? scanned)
        if (table !== undefined && tables.has(table) && !smallTables.has(table)) return [{ problem: line, text }]
        return /^USE TEMP B-TREE FOR (ORDER|GROUP)/.test(line) && / limit /.test(text) ? [{ problem: line, text }] : []
      })
    })
  } finally {
    file.close()
  }
}

/** Returns the tables of a statement by alias. */
function aliases(text: string): ReadonlyMap<string, string> {
  const named = text.matchAll(/\b(?:from|join|update|into)\s+"?(\w+)"?\s+as\s+"?(\w+)"?/gi)
  return new Map(Array.from(named, ([, table = "", alias = ""]) => [alias, table]))
}

/**
 * Larger parameters are instants. The filled database counts its instants from one, so they are replaced by a small number; few rows are
 * then in the past, as in practice.
 */
const firstInstant = 1e11

interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
  readonly "Sort Key"?: readonly string[]
  readonly "Plan Rows": number
  readonly Plans?: readonly PlanNode[]
}

async function explainPostgres(): Promise<readonly Finding[]> {
  await using embedded = await sqlite.place({ empty: true })
  await fillEveryTable(embedded.url, { rowCount: fillRows })
  await using place = await postgres.place({ empty: true })
  await copyStore({ from: embedded.url, to: place.url })
  const client = new Client({ connectionString: place.url })
  await client.connect()
  try {
    await client.query("set enable_seqscan = off")
    const partial = await client.query<{ name: string }>(
      "select indexrelid::regclass::text as name from pg_index where indpred is not null",
    )
    const partialIndexes = new Set(partial.rows.map(({ name }) => name))
    const findings: Finding[] = []
    for (const { text, values } of captured.postgres.values()) {
      const { rows } = await client.query<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>(
        `explain (format json) ${text}`,
        values.map((value) => (typeof value === "number" && value > firstInstant ? fillRows / 100 : value)),
      )
      const root = rows[0]?.["QUERY PLAN"][0]?.Plan
      if (root !== undefined)
        findings.push(...problemsIn(root, text, partialIndexes).map((problem) => ({ problem, text })))
    }
    return findings
  } finally {
    await client.end()
  }
}

function problemsIn(node: PlanNode, text: string, partialIndexes: ReadonlySet<string>): readonly string[] {
  const table = node["Relation Name"]
  const type = node["Node Type"]
  const isLarge = table !== undefined && !smallTables.has(table)
  const own: string[] = []
  if (isLarge && type === "Seq Scan") own.push(`Seq Scan on ${table}`)
  if (
    isLarge &&
    /^Index (Only )?Scan/.test(type) &&
    node["Index Cond"] === undefined &&
    !partialIndexes.has(node["Index Name"] ?? "")
  )
    own.push(`walks ${node["Index Name"]} of ${table}`)
  // A sort of few rows is cheap; a sort of all rows of a table is not.
  if (type.endsWith("Sort") && / limit /.test(text) && node["Plan Rows"] >= fillRows / 2)
    own.push(`${type} by ${node["Sort Key"]?.join()} (${node["Plan Rows"]} rows)`)
  return [...own, ...(node.Plans ?? []).flatMap((part) => problemsIn(part, text, partialIndexes))]
}

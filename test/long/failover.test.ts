// Failures of a PostgreSQL server while requests arrive. Each request gets its answer, or 503 with `Retry-After`. Acknowledged changes
// persist, and changes that were definitely refused were not made.
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { command } from "../../engine/testing/temporary-database.ts"
import { openTestEngine, type TestEngine } from "../../engine/testing/test-engine.ts"
import { warnMissing } from "../toolchain/missing.ts"
import {
  findPostgresBinaries,
  type OwnPostgres,
  postgresInstallation,
  startOwnPostgres,
} from "../toolchain/postgres.ts"
import { type LossyProxy, openLossyProxy } from "./lossy-proxy.ts"

const binaries = await findPostgresBinaries()
if (binaries === undefined) warnMissing(postgresInstallation)

const storageLimits = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000, lockTimeoutMs: 500, idleTimeoutMs: 1_000 }

/** A failure and its repair; requests continue during both. */
interface Trouble {
  readonly name: string
  readonly begin: (server: OwnPostgres, proxy: LossyProxy) => Promise<unknown>
  readonly end: (server: OwnPostgres, proxy: LossyProxy) => Promise<unknown>
  /** Minimum number of requests that the failure must affect. */
  readonly minFailures: 0 | 1
  /** Duration, if a server would otherwise wait indefinitely; longer than a server waits for an answer. */
  readonly lastsMs?: number
}

const troubles: readonly Trouble[] = [
  { name: "restarted", begin: (server) => server.halt("fast"), end: (server) => server.start(), minFailures: 1 },
  { name: "crashed and recovered", begin: (server) => server.halt("immediate"), end: startAgain, minFailures: 1 },
  { name: "killed", begin: (server) => server.signal("SIGKILL"), end: startAgain, minFailures: 1 },
  {
    name: "suspended by SIGSTOP",
    begin: (server) => server.signal("SIGSTOP"),
    end: (server) => server.signal("SIGCONT"),
    minFailures: 1,
    lastsMs: 4_000,
  },
  {
    name: "behind a network that drops every packet",
    begin: async (_, proxy) => proxy.lose(true),
    end: async (_, proxy) => proxy.lose(false),
    minFailures: 1,
    lastsMs: 4_000,
  },
  {
    name: "stripped of its sessions",
    begin: (server) => runSql(server, "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'"),
    end: async () => {},
    minFailures: 0,
  },
  {
    name: "closed for writes",
    begin: (server) => runSql(server, "alter system set default_transaction_read_only = on", "select pg_reload_conf()"),
    end: (server) => runSql(server, "alter system reset default_transaction_read_only", "select pg_reload_conf()"),
    minFailures: 1,
  },
  {
    name: "a standby, and then the primary again",
    async begin(server) {
      await server.halt("fast")
      await writeFile(join(server.dataFolder, "standby.signal"), "")
      await server.start()
    },
    end: (server) => server.promote(),
    minFailures: 1,
  },
  {
    name: "out of connections",
    begin: (server) =>
      runSql(
        server,
        "alter role app connection limit 0",
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'",
      ),
    end: (server) => runSql(server, "alter role app connection limit -1"),
    minFailures: 1,
  },
  {
    name: "of another mind about who may come in",
    begin: (server) =>
      runSql(
        server,
        "alter role app nologin",
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'",
      ),
    end: (server) => runSql(server, "alter role app login"),
    minFailures: 1,
  },
]

describe.runIf(binaries !== undefined)("while PostgreSQL is", () => {
  const opened = new AsyncDisposableStack()
  let server: OwnPostgres
  let proxy: LossyProxy
  let testEngine: TestEngine

  beforeAll(async () => {
    server = await startOwnPostgres(binaries ?? "")
    opened.defer(() => server.stop())
    await runSql(server, "create role app login superuser", "create database app owner app")
    // The first start needs a superuser, who can create extensions, and the tests need a role without, because superusers are exempt from
    // connection limits.
    const folder = new URL(server.url).searchParams.get("host") ?? ""
    proxy = opened.use(await openLossyProxy(join(folder, ".s.PGSQL.5432")))
    const url = `postgres://app@127.0.0.1:${proxy.port}/app`
    await openTestEngine({ url, jobs: false }).then((first) => first[Symbol.asyncDispose]())
    await runSql(server, "alter role app nosuperuser")
    testEngine = opened.use(await openTestEngine({ url, jobs: false, storageLimits, connections: 5 }))
    await testEngine.request("POST", "/organizations", {
      body: { data: { type: "organizations", attributes: { name: "acme", email: "ops@acme.example" } } },
    })
  })
  afterAll(() => opened.disposeAsync())

  test.each(troubles)("$name, every client gets an answer or is asked to retry", async (trouble) => {
    const load = startLoad(testEngine, trouble.name.replaceAll(/\W+/g, "-"))
    await load.untilAcknowledged(10)
    await trouble.begin(server, proxy)
    await sleep(trouble.lastsMs ?? 1_000)
    await trouble.end(server, proxy)
    await load.untilAcknowledged(10)
    const seen = await load.end()

    expect(seen.odd).toEqual([])
    expect(seen.refused.length + seen.uncertain.length).toBeGreaterThanOrEqual(trouble.minFailures)
    const there = await namesOf(testEngine)
    expect(seen.acknowledged.filter((name) => !there.has(name))).toEqual([])
    expect(seen.refused.filter((name) => there.has(name))).toEqual([])
  })

  test("unreachable, a server still shuts down", async () => {
    const other = await openTestEngine({
      url: `postgres://app@127.0.0.1:${proxy.port}/app`,
      jobs: false,
      storageLimits,
    })
    const looked = await other.request("GET", "/organizations/acme/workspaces")
    proxy.lose(true)
    await expect(other[Symbol.asyncDispose]()).resolves.toBeUndefined()
    proxy.lose(false)
    expect(looked.status).toBe(200)
  })
})

interface Seen {
  readonly acknowledged: string[]
  /** Requests whose answer states that nothing was created. */
  readonly refused: string[]
  /** Requests whose answer states that the outcome is unknown. */
  readonly uncertain: string[]
  /** Unexpected answers. */
  readonly odd: unknown[]
}

/** Starts a few clients that each create and read workspaces, one request after another. */
function startLoad(testEngine: TestEngine, prefix: string) {
  const seen: Seen = { acknowledged: [], refused: [], uncertain: [], odd: [] }
  const ending = new AbortController()
  async function client(number: number): Promise<void> {
    for (let count = 0; !ending.signal.aborted; count += 1) {
      const name = `${prefix}-${number}-${count}`
      const body = { data: { type: "workspaces", attributes: { name } } }
      const made = await testEngine.request("POST", "/organizations/acme/workspaces", { body })
      const [error] = made.body?.errors ?? []
      const comesAgain = made.status === 503 && made.headers.get("retry-after") !== null
      if (made.status === 201) seen.acknowledged.push(name)
      else if (!comesAgain) seen.odd.push([made.status, error])
      else if (error.meta?.outcome === "unknown") seen.uncertain.push(name)
      else seen.refused.push(name)
      const looked = await testEngine.request("GET", `/organizations/acme/workspaces/${name}`)
      const fits = made.status === 201 ? [200, 503] : [200, 404, 503]
      if (!fits.includes(looked.status) || (looked.status === 503 && looked.headers.get("retry-after") === null))
        seen.odd.push([looked.status, looked.body])
    }
  }
  const clients = Array.from({ length: 8 }, (_, number) => client(number))
  return {
    async untilAcknowledged(count: number): Promise<void> {
      const enough = seen.acknowledged.length + count
      while (seen.acknowledged.length < enough) await sleep(20)
    },
    async end(): Promise<Seen> {
      ending.abort()
      await Promise.all(clients)
      return seen
    },
  }
}

async function namesOf(testEngine: TestEngine): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (let page: number | null = 1; page !== null;) {
    const { body } = await testEngine.request(
      "GET",
      `/organizations/acme/workspaces?page[size]=100&page[number]=${page}`,
    )
    for (const { attributes } of body.data) names.add(attributes.name)
    page = body.meta.pagination["next-page"]
  }
  return names
}

/** Retries the start, because processes of a killed server take a moment to end. */
async function startAgain(server: OwnPostgres): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await server.start()
    } catch (error) {
      if (attempt === 50) throw error
      await sleep(100)
    }
  }
}

async function runSql({ url }: OwnPostgres, ...statements: readonly string[]): Promise<void> {
  for (const text of statements) await command(url, text)
}

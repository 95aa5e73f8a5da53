// The cost of an operation for replicas and one PostgreSQL: statements, processor time and WAL. Also the increase with a second replica,
// and with the amount of stored data. `--write FILE` saves the figures for the simulation.
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Costs } from "../simulation/costs.ts"
import { startDurablePostgres } from "../toolchain/postgres.ts"
import { type RunningChancery, startChancery } from "./chancery.ts"
import { median, report, target } from "./figures.ts"
import { measureLoad, rawRequest } from "./load.ts"
import { MeteredDatabase } from "./scale-database.ts"

const rounds = 5
const seconds = 4
const clients = 16
/** Rate for each replica, so that two of them, the database and the clients do not overload a small machine. */
const ratePerSecond = 120
const sizes = [100_000, 1_000_000]
const expired = 20_000
const workspaces = 10_000
const pageBytes = 8_192

const folders = ["a", "b"].map((name) => mkdtempSync(join(tmpdir(), `chancery-bench-${name}-`))) as [string, string]
const server = await startDurablePostgres()
try {
  await using database = await MeteredDatabase.opened(server.url)
  const storage = { url: server.url, sealKey: randomBytes(32).toString("base64") }
  await using one = await startChancery(folders[0], [], storage)
  await one.pki("POST", "/sys/mounts/pki", { type: "pki" })
  await one.pki("POST", "/pki/root/generate/internal", { common_name: "Bench Root", key_type: "ec", ttl: "700h" })
  const role = { allowed_domains: "example.com", allow_subdomains: true, ttl: "1h", key_type: "ec" }
  await one.pki("POST", "/pki/roles/web", role)
  const ids: string[] = []
  for (let index = 0; index < clients; index += 1) {
    const { body } = await one.send("POST", `/organizations/${one.organization}/workspaces`, {
      data: { type: "workspaces", attributes: { name: `locked-${index}` } },
    })
    ids.push(body.data.id)
  }
  await fillWorkspaces(database)

  const issuing = ({ token }: RunningChancery) => {
    const body = JSON.stringify({ common_name: "www.example.com", alt_names: "api.example.com" })
    return Array.from({ length: clients }, () => [rawRequest("POST", "/v1/pki/issue/web", token, body)])
  }
  const locking = ({ token }: RunningChancery) =>
    ids.map((id) => [
      rawRequest("POST", `/api/v2/workspaces/${id}/actions/lock`, token, '{"reason":"bench"}'),
      rawRequest("POST", `/api/v2/workspaces/${id}/actions/unlock`, token),
    ])
  const showing = ({ token }: RunningChancery) =>
    ids.map((id) => [rawRequest("GET", `/api/v2/workspaces/${id}`, token)])
  type Requests = (server: RunningChancery) => string[][]

  async function put(at: RunningChancery, requests: Requests, rate?: number): Promise<number> {
    const load = {
      port: at.port,
      seconds,
      clients: requests(at),
      ...(rate === undefined ? {} : { ratePerSecond: rate }),
    }
    const { requestsPerSecond, refused } = await measureLoad(load)
    // If the previous round ended between a lock and its unlock, the round begins with one refused lock per client.
    if (refused > (requests === locking ? clients : 0)) throw new Error(`${refused} requests were refused`)
    return requestsPerSecond * seconds
  }

  /** Returns the cost of one operation: the replica's processor time and the database's work. */
  async function costOf(requests: Requests) {
    await put(one, requests, ratePerSecond)
    let count = 0
    const before = one.cpuMs()
    const work = await database.workOf(async () => (count = await put(one, requests, ratePerSecond)))
    return {
      replicaMs: (one.cpuMs() - before) / count,
      databaseMs: work.processorMs / count,
      walBytes: (work.walBytes - work.pageImages * pageBytes) / count,
      pageImages: work.pageImages / count,
      commits: work.commits / count,
    }
  }

  async function statementsPerOperation(requests: Requests): Promise<number> {
    const idle = await database.statementsOf(() => pause(seconds))
    let count = 0
    const loggedStatements = await database.statementsOf(
      async () => (count = await put(one, requests, 2 * ratePerSecond)),
    )
    return (loggedStatements - idle) / count
  }

  for (const requests of [issuing, locking, showing]) await put(one, requests)
  const statements = {
    issue: await statementsPerOperation(issuing),
    lock: await statementsPerOperation(locking),
    show: await statementsPerOperation(showing),
  }
  // Concurrent requests share the first statement, so there may be fewer; a unit test counts those of a single request.
  target("statements per stored issue", statements.issue, { atMost: 2.05 })
  // An unlock has one more, which checks whether the newest state version of the lock is complete.
  target("statements per lock or unlock", statements.lock, { atMost: 3.55 })

  const idle = await database.workOf(() => pause(seconds))
  const idleDatabaseMs = idle.processorMs / (seconds + 1.2)
  report("database, per idle replica", idleDatabaseMs, "ms per second")

  const costs: Record<string, Awaited<ReturnType<typeof costOf>>> = {}
  for (const [name, requests] of Object.entries({ issue: issuing, lock: locking, show: showing })) {
    const cost = await costOf(requests)
    costs[name] = cost
    report(`${name}: replica`, cost.replicaMs, "ms")
    report(`${name}: database`, cost.databaseMs, "ms")
    report(`${name}: write-ahead log`, cost.walBytes, "bytes without full pages")
  }

  {
    let count = 0
    const work = await database.workOf(async () => (count = await put(one, issuing)))
    report("issue at full speed", count / seconds, "per second")
    // A read outside of a transaction counts as one: at most one for each request.
    report("transactions per issue, including reads", work.commits / count, "")
  }

  {
    await using other = await startChancery(folders[1], [], storage)
    await put(other, issuing)
    const ratios: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const alone = await cpuPerIssue([one])
      const together = await cpuPerIssue([one, other])
      ratios.push(together / alone)
    }
    target("time per issue of a replica, two / one", median(ratios), { atMost: 1.15 })
  }

  async function cpuPerIssue(replicas: readonly RunningChancery[]): Promise<number> {
    const before = replicas.map((replica) => replica.cpuMs())
    const counts = await Promise.all(replicas.map((replica) => put(replica, issuing, ratePerSecond)))
    const spent = replicas.reduce((sum, replica, index) => sum + replica.cpuMs() - (before[index] ?? 0), 0)
    return spent / counts.reduce((sum, count) => sum + count, 0)
  }

  const flushMs = await flushTime(database)
  report("commit flushed to disk", flushMs, "ms")
  const mountCheckMs = await foreignKeyTime(database)
  report("mount check of an insert", mountCheckMs, "ms")

  const grown: { rows: number; issueDatabaseMs: number; pageImages: number }[] = []
  let stored = 0
  for (const rows of sizes) {
    await fill(database, rows - stored)
    stored = rows
    const { databaseMs, pageImages } = await costOf(issuing)
    grown.push({ rows, issueDatabaseMs: databaseMs, pageImages })
    report(`issue with ${rows.toLocaleString("en")} stored: database`, databaseMs, "ms")
  }
  const bytes = await bytesPerRow(database, stored)
  report(
    "stored for a certificate",
    Object.values(bytes).reduce((sum, each) => sum + each, 0),
    "bytes",
  )

  const tidied = await tidyCost(one, database)
  report("tidy", tidied.rowsPerSecond, "certificates per second")

  const at = process.argv.indexOf("--write")
  const file = at < 0 ? undefined : process.argv[at + 1]
  if (file !== undefined) {
    const storedCosts: Costs = {
      operations: Object.fromEntries(
        Object.entries(costs).map(([name, { replicaMs, databaseMs, walBytes }]) => [
          name,
          { replicaMs: rounded(replicaMs), databaseMs: rounded(databaseMs), walBytes: Math.round(walBytes) },
        ]),
      ) as unknown as Costs["operations"],
      idleDatabaseMs: rounded(idleDatabaseMs),
      flushMs: rounded(flushMs),
      mountCheckMs: rounded(mountCheckMs),
      grown: grown.map(({ rows, issueDatabaseMs }) => ({ rows, issueDatabaseMs: rounded(issueDatabaseMs) })),
      bytesPerCertificate: Object.fromEntries(Object.entries(bytes).map(([name, each]) => [name, Math.round(each)])),
      tidy: {
        databaseMs: rounded(tidied.databaseMs),
        walBytes: Math.round(tidied.walBytes),
        rowsPerSecond: Math.round(tidied.rowsPerSecond),
      },
    }
    writeFileSync(file, `${JSON.stringify(storedCosts, undefined, 2)}\n`)
  }
} finally {
  await server.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}

/** Uses a minimal table, to measure how much longer a durable commit takes than an asynchronous one. */
async function flushTime(database: MeteredDatabase): Promise<number> {
  await database.query("create table flushed (n integer)")
  const timeOf = async (durable: "on" | "off") => {
    await database.query(`set synchronous_commit = ${durable}`)
    const times: number[] = []
    for (let count = 0; count < 200; count += 1) {
      const began = performance.now()
      await database.query("insert into flushed values (1)")
      times.push(performance.now() - began)
    }
    return median(times)
  }
  const taken = (await timeOf("on")) - (await timeOf("off"))
  await database.query("drop table flushed")
  return taken
}

async function foreignKeyTime(database: MeteredDatabase): Promise<number> {
  const count = 1_000
  const rows = await database.query<{ "QUERY PLAN": string }>(`explain (analyze, timing on) ${fillText(count)}`)
  const line = rows.map((row) => row["QUERY PLAN"]).find((text) => text.includes("mount_id_fkey"))
  return Number(/time=([\d.]+)/.exec(line ?? "")?.[1]) / count
}

function fillText(count: number): string {
  const columns = ["mount_id", "certificate", "issuer_id", "role", "common_name", "not_before", "not_after"]
  const values = columns.map((name) => (name === "not_after" ? "not_after + n" : `c.${name}`))
  return `insert into certificates (${columns.join(", ")}, serial_number)
    select ${values.join(", ")}, decode(md5(random()::text) || substr(md5(random()::text), 1, 8), 'hex')
    from generate_series(1, ${count}) as n, (select * from certificates where role = 'web' order by number limit 1) as c`
}

/** Adds many workspaces around the locked ones. In a table of one page, every transaction would depend on every change. */
async function fillWorkspaces(database: MeteredDatabase): Promise<void> {
  await database.query(`insert into workspaces
    select (jsonb_populate_record(w, jsonb_build_object('id', 'ws-' || n, 'name', 'filled-' || n, 'name_folded', 'filled-' || n))).*
    from workspaces as w, generate_series(1, ${workspaces}) as n where w.name = 'locked-0'`)
  await database.query("vacuum (analyze)")
}

/** Inserts copies of one certificate, each with its own serial number, two names and expiry. */
async function fill(database: MeteredDatabase, count: number): Promise<void> {
  await database.query(`with c as (${fillText(count)} returning mount_id, number)
    insert into certificate_names (mount_id, name, certificate_number)
      select mount_id, 'moc.elpmaxe.' || md5(random()::text), number from c
      union all select mount_id, 'moc.elpmaxe.www', number from c`)
  await database.query("vacuum (analyze)")
  await database.query("checkpoint")
}

async function bytesPerRow(database: MeteredDatabase, rows: number): Promise<Record<string, number>> {
  const found = await database.query<{ name: string; bytes: string }>(
    `select relname as name, pg_relation_size(oid)::text as bytes from pg_class
       where relkind in ('r', 'i') and relname like 'certificate%' and pg_relation_size(oid) > ${rows * 4}`,
  )
  return Object.fromEntries(found.map(({ name, bytes }) => [name, Number(bytes) / rows]))
}

/** Returns the cost of expired certificates, deleted by the tidy job. */
async function tidyCost(replica: RunningChancery, database: MeteredDatabase) {
  await database.query(
    `update certificates set not_after = 1 where number in (select number from certificates order by number limit ${expired})`,
  )
  let tookMs = 0
  const work = await database.workOf(async () => {
    const began = performance.now()
    await replica.pki("POST", "/pki/tidy", { tidy_cert_store: true, safety_buffer: "1s" })
    for (;;) {
      const { body } = await replica.pki("GET", "/pki/tidy-status")
      if (body.data.state === "Finished") break
      if (body.data.state === "Error") throw new Error(body.data.error)
      await pause(0.1)
    }
    tookMs = performance.now() - began
  })
  return {
    rowsPerSecond: (expired * 1_000) / tookMs,
    databaseMs: work.processorMs / expired,
    walBytes: (work.walBytes - work.pageImages * pageBytes) / expired,
  }
}

function pause(forSeconds: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, forSeconds * 1_000))
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

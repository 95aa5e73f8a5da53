// Several replicas behind a plain TCP balancer on one PostgreSQL, under every kind of load. Replicas are killed, paused and restarted one
// after another, and so is PostgreSQL. Acknowledged changes persist, and nothing is executed twice. The only errors for clients are 503
// with `Retry-After` and closed connections. A seed repeats the plan of the failures.
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { warnMissing } from "../toolchain/missing.ts"
import {
  type OwnPostgres,
  findPostgresBinaries,
  postgresInstallation,
  startOwnPostgres,
} from "../toolchain/postgres.ts"
import { randomIntegers } from "./crashing-server.ts"
import { AcmeLoad } from "./replicas/acme-load.ts"
import { BulkLoad } from "./replicas/bulk-load.ts"
import { CertificateLoad } from "./replicas/certificate-load.ts"
import { type Load, ReplicaClient } from "./replicas/client.ts"
import { EventLoad } from "./replicas/event-load.ts"
import { type Holder, LockLoad } from "./replicas/lock-load.ts"
import { Replica } from "./replicas/replica.ts"
import { RunLoad } from "./replicas/run-load.ts"
import { newWorkspace, WorkspaceLoad, workspaces } from "./replicas/workspace-load.ts"
import { TcpBalancer } from "./tcp-balancer.ts"

const isShort = process.env["CHANCERY_SHORT"] === "1"
const loadMs = isShort ? 25_000 : 300_000
const replicaCount = 3
const holderCount = 4
const contendedCount = 3
const writerCount = 3
/** Between two failures. */
const longestRestMs = isShort ? 1_500 : 4_000
/** Longer than some leases. */
const longestPauseMs = isShort ? 2_000 : 20_000
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)
const binaries = (await findPostgresBinaries()) ?? warnMissing(postgresInstallation)

test.skipIf(binaries === undefined)(
  `${replicaCount} replicas keep every invariant under all faults (seed ${seed})`,
  { timeout: 1_800_000 },
  async () => {
    const random = randomIntegers(seed)
    await using closing = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), "chancery-replicas-"))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    const postgres = await startOwnPostgres(binaries!, { settings: { fsync: "on" } })
    closing.defer(() => postgres.stop())
    const sealKey = randomBytes(32).toString("base64")
    const { token, holders } = await prepareStore(postgres, sealKey)

    const balancer = closing.use(new TcpBalancer())
    const client = new ReplicaClient(`http://127.0.0.1:${await balancer.listen()}`, token)
    closing.defer(() => client.close())
    const acme = closing.use(new AcmeLoad(client, postgres))
    const settings = [
      ...["--rate-limit", "100000", "--outgoing-ranges", "loopback"],
      ...["--acme-http-port", String(await acme.listen()), "--acme-challenge-ranges", "loopback"],
    ]
    const replicas = await Promise.all(
      Array.from({ length: replicaCount }, (_, index) =>
        Replica.prepare(`replica-${index}`, { folder, storage: postgres.url, sealKey, settings }),
      ),
    )
    closing.defer(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))))
    await Promise.all(replicas.map((replica) => replica.start()))
    balancer.targets = replicas.map(({ port }) => port)

    const contended: string[] = []
    for (let index = 0; index < contendedCount; index += 1)
      contended.push((await client.change("POST", workspaces, newWorkspace(`contended-${index}`)))?.body.data.id)
    const events = closing.use(new EventLoad(client, token))
    const own = new WorkspaceLoad(client, writerCount, random)
    const certificates = new CertificateLoad(client, random)
    const runs = new RunLoad(client)
    const bulk = new BulkLoad(client, postgres)
    for (const load of [events, own, certificates, runs, bulk, acme]) await load.prepare()
    const loads: readonly Load[] = [
      ...[new LockLoad(client, { holders, workspaces: contended, random }), own, certificates, acme],
      ...[runs, bulk, events],
    ]
    expect(client.faults).toEqual([])

    const stop = new AbortController()
    const loading = Promise.all(loads.map((load) => load.run(stop.signal)))
    closing.defer(() => stop.abort())
    const done = await Promise.race([injectFaults({ random, postgres, replicas }), loading])
    stop.abort()
    await loading
    const counts = { ...client.counts }
    const logged = replicas.flatMap(({ errors }) => errors.map((line) => eventOf(line)))
    const kinds = [...new Set(logged)].map((kind) => `${kind} ${logged.filter((one) => one === kind).length}`)
    console.log([done, JSON.stringify(counts), `logged: ${kinds.join(", ")}`].join("\n"))
    expect(client.faults).toEqual([])
    for (const load of loads) console.log(await load.verify())
    expect(client.faults).toEqual([])
  },
)

/** Returns the event of a log line; any other line is returned unchanged. */
function eventOf(line: string): string {
  try {
    return JSON.parse(line).event
  } catch {
    return line
  }
}

async function prepareStore({ url }: OwnPostgres, sealKey: string) {
  await using engine = await openEmbedded(url, { sealKeys: { text: sealKey }, jobs: false })
  await engine.organizations.create({ name: "default", email: "replicas@example.com" })
  const { id } = await engine.users.account()
  const { secret } = await engine.tokens.createForUser(id, { description: "replicas" })
  const holders: Holder[] = []
  for (let index = 0; index < holderCount; index += 1) {
    const name = `holder-${index}`
    const user = await engine.users.create({ username: name, siteAdmin: true })
    const created = await engine.tokens.createForUser(user.id, { description: "replicas" })
    holders.push({ name, userId: user.id, token: created.secret })
  }
  return { token: secret, holders }
}

interface Breakable {
  readonly random: (limit: number) => number
  readonly postgres: OwnPostgres
  readonly replicas: readonly Replica[]
}

type Fault = "kill" | "pause" | "restart"

/** Breaks one replica after another, so that two are always up, and restarts PostgreSQL twice in between. */
async function injectFaults({ random, postgres, replicas }: Breakable): Promise<string> {
  const summaries: string[] = []
  const until = performance.now() + loadMs
  const restarts = (["fast", "immediate"] as const).map((mode, index) => ({
    mode,
    at: performance.now() + (loadMs * (index + 1)) / 3,
  }))
  for (let count = 0; performance.now() < until || count < replicas.length || restarts.length > 0; count += 1) {
    const next = restarts[0]
    if (next !== undefined && performance.now() >= next.at) {
      restarts.shift()
      summaries.push(`postgres ${next.mode}`)
      await postgres.halt(next.mode)
      await postgres.start()
    }
    await sleep(random(longestRestMs))
    expect(replicas.flatMap(({ ends }) => ends)).toEqual([])
    const replica = replicas[count % replicas.length]
    const fault = (["kill", "pause", "restart"] as const satisfies readonly Fault[])[random(3)] ?? "kill"
    const restMs = random(longestRestMs)
    const pauseMs = random(longestPauseMs)
    summaries.push(`${fault} ${count % replicas.length}`)
    if (replica === undefined) continue
    if (fault === "pause") {
      replica.pause()
      await sleep(pauseMs)
      replica.resume()
      continue
    }
    await (fault === "kill" ? replica.kill() : replica.stop())
    await sleep(restMs / 4)
    await replica.start()
  }
  return summaries.join(", ")
}

// Kills agents, servers and PostgreSQL (SIGKILL) at random moments while agents execute runs with the real tool. No resource of a run is
// created twice. Each run ends, with a status that matches its state versions. No state is lost, except for resources whose creation was
// in progress when their own agent was killed: no program could save these. A seed repeats the plan of the failures.
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { openRemote } from "../../engine/src/client/remote.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import { openEmbedded } from "../../engine/src/embedded.ts"
import type { RunView } from "../../engine/src/workspaces/runs/run.ts"
import { warnMissing } from "../toolchain/missing.ts"
import {
  findPostgresBinaries,
  type OwnPostgres,
  postgresInstallation,
  startOwnPostgres,
} from "../toolchain/postgres.ts"
import { findTerraform } from "../toolchain/terraform.ts"
import { AppliedWorkspace, organization } from "./agents/applied-workspace.ts"
import { CrashingAgent } from "./agents/crashing-agent.ts"
import { readCreations } from "./agents/creation-trace.ts"
import { judgeRuns, type RunResults } from "./agents/run-evidence.ts"
import { randomIntegers } from "./crashing-server.ts"
import { Replica } from "./replicas/replica.ts"
import { TcpBalancer } from "./tcp-balancer.ts"

const isShort = process.env["CHANCERY_SHORT"] === "1"
const workspaceCount = 4
/** At least. Workspaces go on until a program of each kind was killed. */
const runsPerWorkspace = isShort ? 2 : 26
const leaseSeconds = 10
/** Between two failures. An execution takes longer, so that most of them meet one. */
const longestRestMs = isShort ? 1_500 : 8_000
/** Between a failure and its repair. Some leases end within it. */
const longestOutageMs = isShort ? 2_000 : 14_000
/** Each lost agent costs up to half a minute: its lease, and the interval at which the server looks for expired leases. */
const maxFaults = isShort ? 5 : 1_000
const seed = Number(process.env["CHANCERY_SEED"] ?? Date.now() % 1_000_000)
const binaries = (await findPostgresBinaries()) ?? warnMissing(postgresInstallation)
const terraform = await findTerraform()

test.skipIf(terraform === undefined)(
  `${workspaceCount * runsPerWorkspace} runs and more survive kills of agents, servers and the database (seed ${seed})`,
  { timeout: 3_600_000 },
  async () => {
    const random = randomIntegers(seed)
    await using closing = new AsyncDisposableStack()
    const folder = await realpath(await mkdtemp(join(tmpdir(), "chancery-agents-")))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    const postgres = binaries === undefined ? undefined : await startOwnPostgres(binaries)
    if (postgres !== undefined) closing.defer(() => postgres.stop())
    const storage = postgres?.url ?? `sqlite:${join(folder, "chancery.db")}`
    const sealKey = randomBytes(32).toString("base64")
    const { token, agentToken, poolId } = await prepareStore(storage, sealKey)

    const replicas = await Promise.all(
      // SQLite serves one process.
      ["server-1", ...(postgres === undefined ? [] : ["server-2"])].map((name) =>
        Replica.prepare(name, { folder, storage, sealKey, settings: ["--rate-limit", "off"] }),
      ),
    )
    closing.defer(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))))
    await Promise.all(replicas.map((replica) => replica.start()))
    const balancer = closing.use(new TcpBalancer(replicas.map(({ port }) => port)))
    const url = `http://127.0.0.1:${await balancer.listen()}`
    const engine = closing.use(openRemote(url, { token, random: systemRuntime().random }))
    const agents = await Promise.all(
      ["agent-1", "agent-2"].map((name) =>
        CrashingAgent.prepare(name, { folder, url, token: agentToken, leaseSeconds }),
      ),
    )
    closing.defer(async () => void (await Promise.all(agents.map((agent) => agent.kill()))))
    const traceFile = join(folder, "creations")
    const workspaces = await Promise.all(
      Array.from({ length: workspaceCount }, (_, index) =>
        AppliedWorkspace.create({
          engine,
          name: `crash-${index}`,
          poolId,
          toolVersion: terraform?.version ?? "",
          traceFile,
        }),
      ),
    )
    await Promise.all(agents.map((agent) => agent.start()))

    const stop = new AbortController()
    closing.defer(() => stop.abort())
    const faults: string[] = []
    const kindCount = postgres === undefined ? 2 : 3
    const isEnough = (runCount: number) => runCount >= runsPerWorkspace && faults.length >= kindCount
    const working = Promise.all(workspaces.map((workspace) => workspace.work(isEnough, stop.signal)))
    const breaking = injectFaults({ random, agents, replicas, postgres, faults }, stop.signal)
    await Promise.all([working.finally(() => stop.abort()), breaking])
    console.log(faults.join(", "))

    expect(agents.flatMap(({ ends }) => ends)).toEqual([])
    expect(await Promise.all(agents.map((agent) => agent.stop()))).toEqual(agents.map(() => 0))
    expect(await Promise.all(agents.map((agent) => agent.runFolders()))).toEqual(agents.map(() => []))
    expect(agents.map((agent) => agent.processes())).toEqual(agents.map(() => []))
    const creations = readCreations(await readFile(traceFile, "utf8"))
    const results: RunResults = { applied: 0, errored: 0, unsaved: 0, interrupted: 0, faults: [] }
    const evidence = { logsOf: (run: RunView) => readLogs(run, url, token), agents, creations }
    for (const workspace of workspaces) await judgeRuns(workspace, evidence, results)
    const { applied, errored, unsaved, interrupted } = results
    console.log(
      `${applied} runs applied, ${errored} errored; ${creations.length} resources created, ${unsaved} of them only in unsaved states, ` +
        `${interrupted} in none, because their agent was killed`,
    )
    if (results.faults.length > 0) console.log(agents.map((agent) => agent.output()).join("\n"))
    expect(results.faults).toEqual([])
    expect(applied).toBeGreaterThan(0)
    expect(applied + errored).toBeGreaterThanOrEqual(workspaceCount * runsPerWorkspace)
  },
)

async function prepareStore(url: string, sealKey: string) {
  await using engine = await openEmbedded(url, { sealKeys: { text: sealKey }, jobs: false })
  await engine.organizations.create({ name: organization, email: "agents@example.com" })
  const { id } = await engine.users.account()
  const { secret: token } = await engine.tokens.createForUser(id, { description: "client" })
  const pool = await engine.agentPools.create(organization, { name: "crash" })
  const { secret: agentToken } = await engine.tokens.createForAgentPool(pool.id, { description: "agents" })
  return { token, agentToken, poolId: pool.id }
}

interface Breakable {
  readonly random: (limit: number) => number
  readonly agents: readonly CrashingAgent[]
  readonly replicas: readonly Replica[]
  readonly postgres: OwnPostgres | undefined
  /** Receives a description of each failure. */
  readonly faults: string[]
}

interface Victim {
  readonly name: string
  kill(): Promise<unknown>
  start(): Promise<unknown>
}

/** Kills one program after another: first one of each kind, then all in a random order, again and again. */
async function injectFaults(
  { random, agents, replicas, postgres, faults }: Breakable,
  stop: AbortSignal,
): Promise<void> {
  const kinds: readonly (readonly Victim[])[] = [
    agents.map((agent) => ({ name: agent.name, kill: () => agent.kill(), start: () => agent.start() })),
    replicas.map((replica, index) => ({
      name: `server-${index + 1}`,
      kill: () => replica.kill(),
      start: () => replica.start(),
    })),
    ...(postgres === undefined
      ? []
      : [[{ name: "postgres", kill: () => postgres.signal("SIGKILL"), start: () => startAgain(postgres) }]]),
  ]
  let next = shuffled(
    kinds.flatMap((victims) => shuffled(victims, random).slice(0, 1)),
    random,
  )
  while (faults.length < maxFaults) {
    await sleep(random(longestRestMs), undefined, { signal: stop }).catch(() => undefined)
    if (stop.aborted) return
    if (next.length === 0) next = shuffled(kinds.flat(), random)
    const victim = next.pop()
    if (victim === undefined) continue
    expect([...agents, ...replicas].flatMap(({ ends }) => ends)).toEqual([])
    const outageMs = random(longestOutageMs)
    await victim.kill()
    await sleep(outageMs)
    await victim.start()
    faults.push(`${victim.name} for ${outageMs} ms`)
  }
}

function shuffled<T>(values: readonly T[], random: (limit: number) => number): T[] {
  const left = [...values]
  return values.flatMap(() => left.splice(random(left.length), 1))
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

/** Returns the logs of the plan and the apply. */
async function readLogs({ planId, applyId }: RunView, url: string, token: string): Promise<string> {
  const logs = [`plans/${planId}`, `applies/${applyId}`].map(async (path) => {
    const answer = await fetch(`${url}/api/v2/${path}`, { headers: { authorization: `Bearer ${token}` } })
    const { data } = (await answer.json()) as { readonly data: { readonly attributes: { "log-read-url": string } } }
    return (await fetch(data.attributes["log-read-url"])).text()
  })
  return (await Promise.all(logs)).join("\n")
}

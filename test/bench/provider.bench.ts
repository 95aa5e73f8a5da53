// A thousand workspaces with tag bindings with the real Pulumi engine, relative to as many resources of a provider that does nothing. The
// difference is Chancery's cost. The provider runs as packed. Then the start time of its process, and its peak memory (MB of 1,000,000
// bytes).
import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as pulumi from "@pulumi/pulumi"
import { Workspace } from "@chancery/pulumi"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { startServer } from "../../engine/src/server/server.ts"
import { providerText } from "../../provider/src/dynamic/pulumi-resource.ts"
import { startDynamicServer, type Values } from "../e2e/pulumi/dynamic-server.ts"
import { installPackedProvider } from "../e2e/pulumi/packed-provider.ts"
import { openStack, type TestStack, tokenOf } from "../e2e/pulumi/stack.ts"
import { findPulumi, pulumiInstallation } from "../toolchain/pulumi.ts"
import { median, report, target } from "./figures.ts"

const count = 1_000
/** The two alternate, and each ratio is the median over pairs. */
const rounds = 3
const names = Array.from({ length: count }, (_, index) => `workspace-${index}`)

const program = await findPulumi()
if (program === undefined) throw new Error(pulumiInstallation)
const programs = await mkdtemp(join(tmpdir(), "chancery-bench-"))
await installPackedProvider(programs)

const workspaces = async () => {
  for (const name of names) new Workspace(name, { tagBindings: { team: "payments", tier: "1" } })
}

/** Does nothing. It is loaded as our provider is: from a path instead of serialized code. */
const idle = `exports.handler=()=>require(${JSON.stringify(createRequire(import.meta.url).resolve("./idle-provider.cjs"))});`

class Idle extends pulumi.CustomResource {
  constructor(name: string) {
    super("pulumi-nodejs:dynamic/chancery:Idle", name, { name, __provider: idle })
  }
}

const idles = async () => {
  for (const name of names) new Idle(name)
}

type Phase = "up" | "preview" | "refresh"

async function phasesOf(declare: () => Promise<void>): Promise<Readonly<Record<Phase, number>>> {
  await using stack = await openStack(program ?? "", "embedded", {
    summarized: true,
    packages: join(programs, "node_modules"),
  })
  const timed = async (run: (stack: TestStack) => Promise<unknown>) => {
    const begun = performance.now()
    await run(stack)
    return (performance.now() - begun) / 1_000
  }
  return {
    up: await timed((one) => one.up(declare)),
    preview: await timed((one) => one.preview(declare)),
    refresh: await timed((one) => one.refresh()),
  }
}

const ours: Readonly<Record<Phase, number>>[] = []
const theirs: Readonly<Record<Phase, number>>[] = []
for (let round = 0; round < rounds; round += 1) {
  theirs.push(await phasesOf(idles))
  ours.push(await phasesOf(workspaces))
}
for (const phase of ["up", "preview", "refresh"] as const) {
  report(`${phase} of ${count} workspaces`, median(ours.map((one) => one[phase])), "s")
  report(`${phase} of ${count} idle resources`, median(theirs.map((one) => one[phase])), "s")
  target(
    `${phase}, workspaces / idle`,
    median(ours.map((one, round) => one[phase] / (theirs[round]?.[phase] ?? Number.NaN))),
    { atMost: 1.3 },
  )
}

await measureProcess("embedded")
await measureProcess("remote")
await rm(programs, { recursive: true, force: true })

async function measureProcess(mode: "embedded" | "remote"): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-bench-"))
  const url = `sqlite:${join(folder, "engine.db")}`
  await using engine = await openEmbedded(url, { jobs: false })
  await engine.organizations.create({ name: "acme", email: "acme@example.com" })
  const server = mode === "remote" ? await startServer({ engine }) : undefined
  const environment = {
    CHANCERY_ENGINE_URL: server?.url ?? url,
    ...(server === undefined ? {} : { CHANCERY_TOKEN: await tokenOf(engine) }),
  }
  const declared = (name: string) => ({
    name,
    organization: "acme",
    tagBindings: { team: "payments", tier: "1" },
    __marker: name,
    __provider: providerText("workspace"),
  })
  const start = async (values: Values) => {
    const begun = performance.now()
    await using process = await startDynamicServer(environment, programs)
    await process.check(values)
    return performance.now() - begun
  }
  const started: number[] = []
  const idleStarted: number[] = []
  for (let round = 0; round < 5; round += 1) {
    idleStarted.push(await start({ name: "any", __provider: idle }))
    started.push(await start(declared("any")))
  }
  target(`${mode}: start of the provider's process, to its first answer`, median(started), { atMost: 600 }, "ms")
  report(`${mode}: start of that process with the idle provider`, median(idleStarted), "ms")

  await using dynamic = await startDynamicServer(environment, programs)
  const states = await sixteenAtOnce((name) => dynamic.create(declared(name)))
  await sixteenAtOnce((name) => dynamic.read(states.get(name)?.id ?? "", states.get(name)?.outs ?? {}))
  const peak = await peakBytes(dynamic.process.pid ?? 0)
  target(`${mode}: memory of that process, making and reading ${count} workspaces`, peak / 1e6, { atMost: 200 }, "MB")
  await server?.close()
  await rm(folder, { recursive: true, force: true })
}

/** Runs as many operations at once as Pulumi does on a machine with four processors. */
async function sixteenAtOnce<T>(work: (name: string) => Promise<T>): Promise<ReadonlyMap<string, T>> {
  const waiting = names.values()
  const done = new Map<string, T>()
  const one = async () => {
    for (const name of waiting) done.set(name, await work(name))
  }
  await Promise.all(Array.from({ length: 16 }, one))
  return done
}

/** Returns the peak memory of a process, including code that it shares with others. Without /proc it returns the current memory. */
async function peakBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]
  const kibibytes = peak ?? (await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)])).stdout
  return Number(kibibytes) * 1_024
}

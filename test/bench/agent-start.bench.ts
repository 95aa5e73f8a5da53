// From a queued run to its log, through the server and `chancery agent`, beside the same tool in a folder on the same machine. The
// configuration uses only the built-in provider.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Agent } from "undici"
import { tarball } from "../../engine/testing/tar-archive.ts"
import { findTerraform } from "../toolchain/terraform.ts"
import { main, startChancery } from "./chancery.ts"
import { median, report } from "./figures.ts"
import { openBenchPool, planLogPath } from "./run-claims.ts"

const rounds = 7
const pollMs = 10
const configuration = 'resource "terraform_data" "one" {\n  input = "one"\n}\n'
/** Begins the output of the plan itself. */
const planned = "Terraform used the selected providers"

const terraform = await findTerraform()
if (terraform === undefined) {
  console.log("  no terraform on the PATH")
  process.exit()
}
const { program, version } = terraform
const folder = mkdtempSync(join(tmpdir(), "chancery-bench-"))
try {
  await using server = await startChancery(join(folder, "server"))
  await using pool = await openBenchPool(server)
  const workspace = await pool.createWorkspace("bench")
  // The log has the text of the tool, as its own output has.
  await pool.engine.workspaces.update({ id: workspace }, { engineVersion: version, structuredRunOutputEnabled: false })
  const uploaded = await pool.engine.configurationVersions.create(
    { id: workspace },
    { speculative: true, provisional: false, autoQueueRuns: false, ingressAttributes: null, readme: null },
  )
  await pool.engine.configurationVersions.upload(uploaded.id, tarball({ "main.tf": configuration }))
  await using _agent = startAgent(server.port, pool.agentToken)
  const connection = new Agent({ connections: 1 })

  const first: number[] = []
  const plan: number[] = []
  const alone: number[] = []
  for (let round = -1; round < rounds; round += 1) {
    const remote = await remotePlan()
    const local = await localPlan()
    // The first round includes the start of the agent.
    if (round < 0) continue
    first.push(remote.firstMs)
    plan.push(remote.plannedMs)
    alone.push(local)
  }
  report("queue to the first line of the log", median(first), "ms")
  report("queue to the first line of the plan", median(plan), "ms")
  report("terraform init and plan alone, to the first line of the plan", median(alone), "ms")
  report("queue to the first line of the plan / alone", median(plan) / median(alone), "")
  await connection.close()

  async function remotePlan(): Promise<{ readonly firstMs: number; readonly plannedMs: number }> {
    const began = performance.now()
    const run = await pool.engine.runs.create(
      { id: workspace },
      {
        message: null,
        isDestroy: false,
        autoApply: null,
        planOnly: true,
        refreshOnly: false,
        configurationVersionId: uploaded.id,
      },
    )
    const path = await planLogPath(server, run)
    let firstMs: number | undefined
    for (;;) {
      const answer = await connection.request({ origin: `http://127.0.0.1:${server.port}`, path, method: "GET" })
      const text = await answer.body.text()
      // The first character marks the beginning.
      if (text.length > 1) firstMs ??= performance.now() - began
      if (firstMs !== undefined && text.includes(planned)) {
        const plannedMs = performance.now() - began
        await untilFinal(run.id)
        return { firstMs, plannedMs }
      }
      if (text.endsWith("\u0003")) throw new Error(`the plan failed: ${text}`)
      await sleep(pollMs)
    }
  }

  /** Waits for the end, so that runs do not overlap. */
  async function untilFinal(id: string): Promise<void> {
    while ((await pool.engine.runs.get(id)).status !== "planned_and_finished") await sleep(pollMs)
    // The agent removes its folder and claims again.
    await sleep(500)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function startAgent(port: number, token: string): AsyncDisposable {
  const tokenFile = join(folder, "token")
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const words = ["--engine-url", `http://127.0.0.1:${port}`, "--token-file", tokenFile, "--data", join(folder, "agent")]
  const child = spawn(process.execPath, [main, "agent", ...words, "--isolation", "none"], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
    },
  }
}

/** Returns the time to the first line of the plan, in a new folder. */
async function localPlan(): Promise<number> {
  const cwd = mkdtempSync(join(folder, "local-"))
  mkdirSync(join(cwd, "home"))
  writeFileSync(join(cwd, "main.tf"), configuration)
  const env = { PATH: process.env["PATH"], HOME: join(cwd, "home"), CHECKPOINT_DISABLE: "1" }
  const began = performance.now()
  await run(["init", "-no-color", "-input=false"])
  return await run(["plan", "-no-color", "-input=false", "-out=plan"])

  async function run(args: readonly string[]): Promise<number> {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    let plannedMs = 0
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (plannedMs === 0 && text.includes(planned)) plannedMs = performance.now() - began
    })
    const [code] = (await once(child, "close")) as [number | null]
    if (code !== 0) throw new Error(`terraform ${args[0]} ended with ${code}: ${text}`)
    return plannedMs
  }
}

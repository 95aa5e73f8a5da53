// A server and an agent, each in its own process, and a tool that is a script of the test. It shows what the agent does when a tool
// misbehaves as no real one can be told to.
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { openRemote } from "../../../engine/src/client/remote.ts"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import type { Engine } from "../../../engine/src/engine.ts"
import type { RunView } from "../../../engine/src/workspaces/runs/run.ts"
import { tarball, type TarFiles } from "../../../engine/testing/tar-archive.ts"
import { type Running, serve, start, temporaryFolder } from "../../cli/chancery.ts"

const organization = "default"
/** Version that the script claims to be. */
export const scriptVersion = "1.11.4"

export interface AgentFixture extends AsyncDisposable {
  readonly engine: Engine
  readonly folder: string
  readonly agentToken: string
  /** Starts an agent whose `terraform` is this shell script. `$1` is the command of terraform. `folder` is put on the PATH. */
  agent(script: string, options?: readonly string[], folder?: string): Promise<Running>
  /** Queues a plan of this configuration in a new workspace. */
  queue(files?: TarFiles, autoApply?: boolean): Promise<{ readonly id: string; readonly runId: string }>
  run(runId: string): Promise<RunView>
  /** Returns the log of the plan or the apply. */
  log(stage: "plan" | "apply", runId: string): Promise<string>
}

export async function openAgentFixture(): Promise<AgentFixture> {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(await temporaryFolder()).path
  const served = opening.use(await serve(["dev"], { folder }))
  const rootToken = (await readFile(join(folder, ".chancery/root-token"), "utf8")).trim()
  const engine = opening.use(openRemote(served.url, { token: rootToken, random: systemRuntime().random }))
  const pool = await engine.agentPools.create(organization, { name: "tests" })
  const agentToken = (await engine.tokens.createForAgentPool(pool.id, { description: "tests" })).secret
  await writeFile(join(folder, "agent-token"), agentToken, { mode: 0o600 })
  const closing = opening.move()
  let count = 0
  return {
    engine,
    folder,
    agentToken,
    async agent(script, options = [], programs = "") {
      count += 1
      const bin = join(folder, `bin-${count}`)
      await mkdir(bin)
      await writeFile(join(bin, "terraform"), `#!/bin/sh\n${preamble}${script}\n`)
      await chmod(join(bin, "terraform"), 0o755)
      const running = start(
        [
          "agent",
          "--engine-url",
          served.url,
          "--token-file",
          join(folder, "agent-token"),
          "--data",
          `agent-${count}`,
          ...options,
        ],
        { folder, environment: { PATH: `${bin}:${programs}:${process.env.PATH ?? ""}` } },
      )
      return { ...running, [Symbol.asyncDispose]: () => stop(running) }
    },
    async queue(files = { "main.tf": "" }, autoApply = false) {
      count += 1
      const { id } = await engine.workspaces.create(organization, {
        name: `web-${count}`,
        engineVersion: scriptVersion,
        structuredRunOutputEnabled: false,
      })
      const version = await engine.configurationVersions.create(
        { id },
        { speculative: false, provisional: false, autoQueueRuns: false, ingressAttributes: null, readme: null },
      )
      await engine.configurationVersions.upload(version.id, tarball(files))
      const input = { message: null, isDestroy: false, planOnly: false, refreshOnly: false }
      const run = await engine.runs.create({ id }, { ...input, autoApply, configurationVersionId: version.id })
      return { id, runId: run.id }
    },
    run: (runId) => engine.runs.get(runId),
    async log(stage, runId) {
      const path = `${served.url}/api/v2/runs/${runId}/${stage}`
      const shown = await fetch(path, { headers: { authorization: `Bearer ${rootToken}` } })
      const { data } = (await shown.json()) as { data: { attributes: { "log-read-url": string } } }
      const pieces: string[] = []
      for (let offset = 0; ;) {
        const piece = await (
          await fetch(`${data.attributes["log-read-url"]}?limit=1000000&offset=${offset}`)
        ).arrayBuffer()
        if (piece.byteLength === 0) return pieces.join("")
        pieces.push(Buffer.from(piece).toString())
        offset += piece.byteLength
      }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** An agent that is killed while it waits could be given the run of the next test. */
async function stop(agent: Running): Promise<void> {
  agent.child.kill("SIGTERM")
  await Promise.race([agent.ended, sleep(stopTimeoutMs)])
  await agent[Symbol.asyncDispose]()
}

const stopTimeoutMs = 20_000

/** The version, the backend that `init` records, and the documents of an empty plan. */
const preamble = `
case "$1" in
  version) echo "Terraform v${scriptVersion}"; exit 0;;
  init) mkdir -p .terraform; override=$(cat zzzz_chancery_override.tf.json)
    dir=$(echo "$override" | sed 's/.*"workspace_dir":"\\([^"]*\\)".*/\\1/')
    echo "{\\"backend\\":{\\"type\\":\\"local\\",\\"config\\":{\\"workspace_dir\\":\\"$dir\\"}}}" > .terraform/terraform.tfstate; exit 0;;
  show) echo '{"format_version":"1.2"}'; exit 0;;
  providers) echo '{"format_version":"1.0"}'; exit 0;;
esac
for word in "$@"; do case "$word" in -out=*) out="\${word#-out=}";; esac; done
`

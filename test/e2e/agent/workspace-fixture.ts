// A server with a clock that tests can advance, and workspaces whose runs agents with a real tool execute, each in a process of its own.
import { mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { expect } from "vitest"
import { systemRuntime } from "../../../engine/src/core/runtime.ts"
import type { ServedEngine } from "../../../engine/src/engine.ts"
import { startServer } from "../../../engine/src/server/server.ts"
import type { RunInput, RunView } from "../../../engine/src/workspaces/runs/run.ts"
import type { WorkspaceInput } from "../../../engine/src/workspaces/workspace/workspace-input.ts"
import { bytesOf } from "../../../engine/testing/state-file.ts"
import { type TarFiles, tarball } from "../../../engine/testing/tar-archive.ts"
import { openTestEngine } from "../../../engine/testing/test-engine.ts"
import { type Running, start, temporaryFolder } from "../../cli/chancery.ts"
import type { TerraformProgram } from "../../toolchain/terraform.ts"

export const organization = "acme"

export interface WorkspaceFixture extends AsyncDisposable {
  /** Acts as the site administrator. */
  readonly engine: ServedEngine
  readonly url: string
  /** Moves the clock of the server. Claims that are not renewed until then expire. */
  advanceClock(milliseconds: number): void
  /** Stops the clock of the server, so that no claim expires, until it is disposed of. */
  stopClock(): Disposable
  /** Creates a workspace with an agent pool of its own. */
  createWorkspace(input?: WorkspaceInput): Promise<AgentWorkspace>
}

export interface AgentWorkspace {
  readonly id: string
  readonly name: string
  readonly poolId: string
  /** Uploads a configuration, which queues a run. */
  upload(files: TarFiles): Promise<void>
  queue(input?: Partial<RunInput>): Promise<void>
  latestRun(): Promise<RunView>
  /** Starts an agent of the pool in the folder of the workspace, or in `data`. */
  startAgent(words?: readonly string[], options?: StartOptions): Running
  /** Executes all waiting runs, and returns the output of the agent. */
  execute(words?: readonly string[], options?: StartOptions): Promise<string>
  /** Returns the log of the latest run. */
  log(stage: "plan" | "apply"): Promise<string>
  /** Returns the current state. */
  state(): Promise<{ readonly outputs: Readonly<Record<string, { readonly value: unknown }>> }>
  /** Folder of the agents. */
  readonly data: string
}

interface StartOptions {
  readonly data?: string
  readonly environment?: Readonly<Record<string, string>>
}

export async function openWorkspaceFixture({ program, kind }: TerraformProgram): Promise<WorkspaceFixture> {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(await temporaryFolder()).path
  const system = systemRuntime()
  let aheadMs = 0
  let stoppedAt: number | undefined
  const now = () => stoppedAt ?? system.clock.now() + aheadMs
  const runtime = { ...system, clock: { now } }
  const { engine, rootToken } = opening.use(await openTestEngine({ runtime }))
  const server = await startServer({ engine, runtime })
  opening.defer(async () => void (await server.close()))
  const { url } = server
  await engine.organizations.create({ name: organization, email: "ops@example.com" })
  const path = await searchPath(join(folder, "bin"), { program, kind })
  let count = 0

  async function createWorkspace(input: WorkspaceInput = {}): Promise<AgentWorkspace> {
    count += 1
    const pool = await engine.agentPools.create(organization, { name: `pool-${count}` })
    const { secret } = await engine.tokens.createForAgentPool(pool.id, { description: "agent" })
    const { id, name } = await engine.workspaces.create(organization, {
      name: `executed-${count}`,
      executionMode: "agent",
      agentPoolId: pool.id,
      engineVersion: "latest",
      structuredRunOutputEnabled: false,
      ...input,
    })
    const data = join(folder, `agent-${count}`)
    const latestRun = async (): Promise<RunView> => {
      const [run] = (await engine.runs.list({ id }, {}, { number: 1, size: 1 })).items
      if (run === undefined) throw new Error("no run was queued")
      return run
    }
    const startAgent: AgentWorkspace["startAgent"] = (words = [], { data: other = data, environment = {} } = {}) => {
      const connection = ["--engine-url", url, "--tool", kind, "--isolation", "none"]
      return start(["agent", ...connection, "--data", other, "--name", "example", ...words], {
        environment: { PATH: path, CHANCERY_TOKEN: secret, CHECKPOINT_DISABLE: "1", ...environment },
      })
    }
    return {
      id,
      name,
      poolId: pool.id,
      data,
      latestRun,
      startAgent,
      async upload(files) {
        const version = await engine.configurationVersions.create(
          { id },
          { speculative: false, provisional: false, autoQueueRuns: true, ingressAttributes: null, readme: null },
        )
        await engine.configurationVersions.upload(version.id, tarball(files))
      },
      async queue(changes = {}) {
        const run = { message: null, autoApply: null, planOnly: false, refreshOnly: false, isDestroy: false }
        await engine.runs.create({ id }, { ...run, configurationVersionId: null, ...changes })
      },
      async execute(words = [], options) {
        await using running = startAgent(["--once", ...words], options)
        const { code, out, stderr } = await running.ended
        expect([code, stderr]).toEqual([0, expect.stringContaining("The agent example waits for runs.")])
        return out
      },
      async log(stage) {
        const { planId, applyId } = await latestRun()
        const headers = { authorization: `Bearer ${rootToken}` }
        const shown = await fetch(`${url}/api/v2/${stage === "plan" ? `plans/${planId}` : `applies/${applyId}`}`, {
          headers,
        })
        const { data } = (await shown.json()) as { data: { attributes: { "log-read-url": string } } }
        return (await fetch(data.attributes["log-read-url"])).text()
      },
      async state() {
        const version = await engine.stateVersions.current({ id })
        const text = (await bytesOf(await engine.stateVersions.download(version.id, "state"))).toString()
        return JSON.parse(text) as Awaited<ReturnType<AgentWorkspace["state"]>>
      },
    }
  }
  const closing = opening.move()
  return {
    engine,
    url,
    advanceClock: (milliseconds) => void (aheadMs += milliseconds),
    stopClock() {
      stoppedAt = now()
      return { [Symbol.dispose]: () => void (stoppedAt = undefined) }
    },
    createWorkspace,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Returns a PATH on which the tool has its usual name. */
async function searchPath(bin: string, { program, kind }: Pick<TerraformProgram, "program" | "kind">): Promise<string> {
  const path = process.env["PATH"] ?? ""
  if (!program.includes("/")) return path
  await mkdir(bin, { recursive: true })
  await symlink(program, join(bin, kind === "terraform" ? "terraform" : "tofu"))
  return `${bin}:${path}`
}

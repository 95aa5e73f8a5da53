// What benches of runs share: an agent pool, workspaces whose runs its agents execute, and queued runs.
import { openRemote } from "../../engine/src/client/remote.ts"
import { systemRuntime } from "../../engine/src/core/runtime.ts"
import type { Engine } from "../../engine/src/engine.ts"
import type { RunView } from "../../engine/src/workspaces/runs/run.ts"
import type { RunningChancery } from "./chancery.ts"

export interface BenchPool extends AsyncDisposable {
  /** Acts as the site administrator. */
  readonly engine: Engine
  /** Acts as an agent of the pool. */
  readonly agent: Engine
  readonly agentToken: string
  /** Creates a workspace and returns its id. */
  createWorkspace(name: string): Promise<string>
  /** Queues a run that only plans. */
  queuePlan(workspaceId: string): Promise<RunView>
}

export async function openBenchPool({ port, token, organization }: RunningChancery): Promise<BenchPool> {
  await using opening = new AsyncDisposableStack()
  const url = `http://127.0.0.1:${port}`
  const { random } = systemRuntime()
  const engine = opening.use(openRemote(url, { token, random }))
  const pool = await engine.agentPools.create(organization, { name: "bench" })
  const { secret: agentToken } = await engine.tokens.createForAgentPool(pool.id, { description: "bench" })
  const agent = opening.use(openRemote(url, { token: agentToken, random }))
  const closing = opening.move()
  return {
    engine,
    agent,
    agentToken,
    async createWorkspace(name) {
      const mode = { executionMode: "agent", agentPoolId: pool.id } as const
      return (await engine.workspaces.create(organization, { name, ...mode })).id
    },
    queuePlan: (id) =>
      engine.runs.create(
        { id },
        {
          message: null,
          isDestroy: false,
          autoApply: null,
          planOnly: true,
          refreshOnly: false,
          configurationVersionId: null,
        },
      ),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Returns the path with the credential of the log of a plan. */
export async function planLogPath(server: RunningChancery, { planId }: RunView): Promise<string> {
  const { body } = await server.send("GET", `/plans/${planId}`)
  const { pathname, search } = new URL(body.data.attributes["log-read-url"])
  return pathname + search
}

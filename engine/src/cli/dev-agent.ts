// Agent of `npm start -- --agent`: it serves the organization of the development server, over HTTP like any other agent.
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import type { IsolationKind } from "../agent/isolation/isolation.ts"
import type { ToolKind } from "../agent/tools/index.ts"
import { hourMs, minuteMs, secondMs } from "../core/time.ts"
import type { ServedEngine } from "../engine.ts"
import { openEngine } from "../open.ts"
import { developmentOrganization } from "./dev-defaults.ts"
import type { ProcessLog } from "./log.ts"
import type { Terminal } from "./terminal.ts"

const poolName = "dev"
const tokenDescription = "npm start -- --agent"

interface DevAgent {
  readonly engine: ServedEngine
  readonly serverUrl: string
  readonly tool: ToolKind | true
  readonly data: string
  readonly terminal: Terminal
  readonly log: ProcessLog
}

/** Runs an agent until the signal aborts. A failure of the agent is logged and does not stop the server. */
export async function runDevAgent(options: DevAgent, signal: AbortSignal): Promise<void> {
  const { engine, serverUrl, data, terminal, log } = options
  try {
    const pool = await ensurePool(engine)
    // The secret of an earlier token is not stored anywhere.
    for (const { id, description } of (await engine.tokens.listForAgentPool(pool, { number: 1, size: 100 })).items)
      if (description === tokenDescription) await engine.tokens.delete(id)
    const { secret, id: tokenId } = await engine.tokens.createForAgentPool(pool, { description: tokenDescription })
    await using remote = await openEngine(serverUrl, { token: secret })
    const { startAgent } = await import("./actions/agent.ts")
    const settings = {
      claims: remote.runClaims,
      hidden: [data],
      pool: undefined,
      claim: undefined,
      name: "dev",
      slots: 2,
      once: false,
      data: join(data, "agent"),
      passed: proxyVariables(terminal.environment),
      leaseMs: minuteMs,
      snapshotEveryMs: 20 * secondMs,
      maxLogBytes: 64 * 2 ** 20,
      toolKind: options.tool === true ? toolOnPath(terminal.environment) : options.tool,
      tools: { folder: undefined, mirror: undefined, keyFile: undefined, signature: "required" as const },
      providerMirror: undefined,
      runAs: undefined,
      container: undefined,
      limits: { timeMs: hourMs, memoryBytes: null, graceMs: minuteMs },
    }
    await startAgent({ ...settings, isolation: await usableIsolation(terminal) }, terminal, signal)
    await engine.tokens.delete(tokenId)
  } catch (error) {
    log.error("the agent has failed", { error })
  }
}

async function ensurePool(engine: ServedEngine): Promise<string> {
  const { items } = await engine.agentPools.list(
    developmentOrganization,
    { search: poolName },
    { number: 1, size: 100 },
  )
  const found = items.find(({ name }) => name === poolName)
  return found?.id ?? (await engine.agentPools.create(developmentOrganization, { name: poolName })).id
}

/** A trial must not fail for lack of a sandbox, and says so. */
async function usableIsolation(terminal: Terminal): Promise<IsolationKind> {
  const { openIsolation } = await import("../agent/isolation/open-isolation.ts")
  const limits = { timeMs: minuteMs, memoryBytes: null, graceMs: secondMs }
  try {
    await using _sandbox = await openIsolation({ kind: "sandbox", limits, agent: "dev", hidden: [] })
    return "sandbox"
  } catch (error) {
    terminal.say(`The agent runs without isolation, for trials only: ${(error as Error).message}`)
    return "none"
  }
}

function toolOnPath(environment: Terminal["environment"]): ToolKind {
  const has = (program: string) =>
    (environment["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && existsSync(join(folder, program)))
  return !has("terraform") && has("tofu") ? "opentofu" : "terraform"
}

const proxyNames = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"]
const proxyVariables = (environment: Terminal["environment"]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    proxyNames.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

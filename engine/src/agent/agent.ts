// Loop of `chancery agent`: claims runs of its pool and executes them, in as many slots as it has.
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { secondMs } from "../core/time.ts"
import type { ClaimTarget, RunClaims, RunClaimView } from "../workspaces/runs/run-claim.ts"
import { killProcessesOfRuns } from "./isolation/left-processes.ts"
import { type Execution, executeRun, type ExecutionOptions } from "./runs/execute-run.ts"
import { isTemporary } from "./runs/claim-retries.ts"
import { removeFolder } from "./runs/run-folder.ts"
import { preparePluginCache } from "./tools/index.ts"

export interface AgentOptions extends Omit<ExecutionOptions, "runsFolder" | "pluginCache" | "keepState" | "claims"> {
  readonly claims: RunClaims
  readonly target: ClaimTarget
  /** Name that runs and their logs show. */
  readonly name: string
  /** Number of runs that are executed at the same time. */
  readonly slots: number
  /** Folder of this agent alone. It holds caches, the folders of runs, and states that no server stored. */
  readonly dataFolder: string
  /** Ends when no run waits. */
  readonly once: boolean
}

/** Idle slots end within this time when the agent stops. */
const waitMs = 3 * secondMs
const pauseAfterErrorMs = 5 * secondMs

/**
 * Executes runs until `draining` aborts: runs at hand are finished first. Throws if the server rejects the token, and with `once` also if the
 * server is away.
 */
export async function runAgent(options: AgentOptions, draining: AbortSignal): Promise<void> {
  const { dataFolder, slots, print } = options
  const runsFolder = join(dataFolder, "runs")
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  await using _lock = await lockFolder(dataFolder)
  await removeLeftovers(runsFolder, print)
  const keepState: ExecutionOptions["keepState"] = async ({ run }, state) => {
    const folder = join(dataFolder, "unsaved-states")
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `${run.id}.tfstate`)
    await writeFile(path, state, { mode: 0o600 })
    return path
  }
  const stop = new AbortController()
  const ending = AbortSignal.any([draining, stop.signal])
  const work = async (slot: number): Promise<void> => {
    const pluginCache = await preparePluginCache(join(dataFolder, "cache"), `slot-${slot}`)
    await runSlot({ ...options, runsFolder, pluginCache, keepState }, ending)
  }
  const results = await Promise.allSettled(
    Array.from({ length: slots }, (_, index) =>
      work(index + 1).catch((error: unknown) => {
        // Without a valid token, no slot can go on.
        stop.abort()
        throw error
      }),
    ),
  )
  const failed = results.find((result) => result.status === "rejected")
  if (failed !== undefined) throw failed.reason
}

interface SlotOptions extends AgentOptions {
  readonly runsFolder: string
  readonly pluginCache: string
  readonly keepState: ExecutionOptions["keepState"]
}

async function runSlot(options: SlotOptions, ending: AbortSignal): Promise<void> {
  const { claims, target, name, leaseMs, once, print } = options
  while (!ending.aborted) {
    let claim: RunClaimView | undefined
    try {
      claim = await claims.claim(target, { name, leaseMs, waitMs: once ? 0 : waitMs })
    } catch (error) {
      if (once || !isTemporary(error)) throw error
      print(`The server did not answer: ${(error as Error).message}`)
      await sleep(pauseAfterErrorMs, undefined, { signal: ending }).catch(() => undefined)
      continue
    }
    if (claim === undefined) {
      if (once) return
      continue
    }
    await execute(claim, options)
  }
}

async function execute(claim: RunClaimView, options: SlotOptions): Promise<void> {
  const { print } = options
  const label = `${claim.run.id} of ${claim.workspace.organizationName}/${claim.workspace.name}`
  print(`${label}: ${claim.run.status}`)
  let ended: Execution
  try {
    ended = await executeRun(claim, options)
  } catch (error) {
    // The lease ends without this agent, and the server decides about the run.
    print(`${label}: ${(error as Error).message}`)
    return
  }
  print(`${label}: ${ended}`)
}

/** Two agents in one folder would remove each other's runs. */
async function lockFolder(folder: string): Promise<AsyncDisposable> {
  const path = join(folder, "agent.pid")
  const owner = Number(await readFile(path, "utf8").catch(() => "0"))
  if (owner > 0 && owner !== process.pid && isAlive(owner))
    throw new Error(
      `The folder ${folder} is in use by the agent with the process id ${owner}. Choose another with --data.`,
    )
  await writeFile(path, String(process.pid), { mode: 0o600 })
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Removes the folders of runs that an earlier agent left. A state of theirs may be newer than the server's. */
async function removeLeftovers(runsFolder: string, print: (text: string) => void): Promise<void> {
  const names = await readdir(runsFolder).catch(() => [])
  // They would write their state while it is copied, and go on in a folder that is gone. The server gives their runs to other agents.
  const killed = names.length === 0 ? 0 : await killProcessesOfRuns(runsFolder)
  if (killed > 0) print(`An earlier agent left ${killed} processes of its runs. They were killed.`)
  for (const name of names) {
    await chmod(join(runsFolder, name), 0o700)
    const kept = await keepStates(join(runsFolder, name), join(runsFolder, "..", "unsaved-states"), name)
    for (const path of kept)
      print(`An earlier agent ended during the apply of ${name.replace(/-[^-]*$/, "")}. Its state is kept in ${path}.`)
    await removeFolder(join(runsFolder, name))
  }
}

async function keepStates(folder: string, target: string, name: string): Promise<readonly string[]> {
  const states = join(folder, "state")
  const kept: string[] = []
  for (const workspace of await readdir(states).catch(() => [])) {
    const text = await readFile(join(states, workspace, "terraform.tfstate")).catch(() => undefined)
    const before = await readFile(join(folder, "state-before")).catch(() => undefined)
    // Terraform makes an empty file before it has a state.
    if (text === undefined || text.length === 0 || before?.equals(text) === true) continue
    await mkdir(target, { recursive: true, mode: 0o700 })
    const path = join(target, `${name}.tfstate`)
    await writeFile(path, text, { mode: 0o600 })
    kept.push(path)
  }
  return kept
}

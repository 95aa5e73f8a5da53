// Executes runs on the agent's own machine, each in an empty folder.
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { RunExecutor } from "../run-executor.ts"
import { killProcessesOfRuns } from "../isolation/left-processes.ts"
import { preparePluginCache } from "../tools/index.ts"
import { executeRun, type ExecutionOptions } from "./execute-run.ts"
import { removeFolder } from "./run-folder.ts"

export interface LocalExecutorOptions extends Omit<ExecutionOptions, "runsFolder" | "pluginCache" | "keepState"> {
  /** Folder of this agent alone. It holds caches, the folders of runs, and states that no server stored. */
  readonly dataFolder: string
}

/** Locks the data folder, and removes what an earlier agent left in it. */
export async function openLocalExecutor(options: LocalExecutorOptions): Promise<RunExecutor> {
  const { dataFolder, tools, isolation, print } = options
  const runsFolder = join(dataFolder, "runs")
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  await using opening = new AsyncDisposableStack()
  opening.use(await lockFolder(dataFolder))
  await removeLeftovers(runsFolder, print)
  const keepState: ExecutionOptions["keepState"] = async ({ run }, state) => {
    const folder = join(dataFolder, "unsaved-states")
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `${run.id}.tfstate`)
    await writeFile(path, state, { mode: 0o600 })
    return path
  }
  const opened = opening.move()
  return {
    describe: () => [...tools.describe(), ...isolation.describe()],
    async execute(claim, slot) {
      const pluginCache = await preparePluginCache(join(dataFolder, "cache"), `slot-${slot}`)
      return executeRun(claim, { ...options, runsFolder, pluginCache, keepState })
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
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

// Ends the processes that a command leaves behind where no namespace ends with it.
import { setTimeout as sleep } from "node:timers/promises"
import {
  type ProcessEntry,
  initialEnvironment,
  ownerOf,
  processTree,
  readProcess,
  readProcesses,
  sendSignal,
} from "./process-table.ts"

const pollMs = 10
const attempts = 1_000

/** Waits until a process is gone, at most ten seconds. Linux only. */
export async function waitForEnd(pid: number): Promise<void> {
  const startedAt = readProcess(pid)?.startedAt
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const found = readProcess(pid)
    // Another start time belongs to another process with the same number.
    if (found === undefined || found.isZombie || found.startedAt !== startedAt) return
    await sleep(pollMs)
  }
}

/** How to recognise processes of a command that left its process group and lost their parent. Linux only. */
export interface Traces {
  /** Assignments of the environment that name the run's folder. All must match. */
  readonly assignments: readonly string[]
  /** User whose processes all belong to the command. */
  readonly uid: number | undefined
}

/** Returns assignments that name the folder of the run. PWD also names it in the shell of an operator who looks at the folder. */
export function tracingAssignments(environment: Readonly<Record<string, string>>, root: string): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value.includes(root) && name !== "PWD" && name !== "OLDPWD" ? [`${name}=${value}`] : [],
  )
}

/** Kills processes of a command until none is left, at most for ten seconds. */
export async function killLeftProcesses(leader: number, traces: Traces): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const left = leftProcesses(readProcesses(), leader, traces)
    if (left.length === 0) return
    for (const { pid } of left) sendSignal(pid, "SIGKILL")
    await sleep(pollMs)
  }
}

/** Variables of every run that name a path in its folder. A workspace can replace some of them. */
const folderVariables = ["HOME", "TMPDIR", "TF_CLI_CONFIG_FILE"]

/**
 * Kills the processes of all runs whose folders are in `runsFolder`, at most for ten seconds, and returns their number. An agent that was
 * killed leaves them with the isolations `user` and `none`. Linux only.
 */
export async function killProcessesOfRuns(runsFolder: string): Promise<number> {
  if (process.platform !== "linux") return 0
  const killed = new Set<number>()
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const left = readProcesses().filter(
      ({ pid, isZombie }) => !isZombie && pid !== process.pid && isOfRun(pid, runsFolder),
    )
    if (left.length === 0) break
    for (const { pid } of left) {
      killed.add(pid)
      sendSignal(pid, "SIGKILL")
    }
    await sleep(pollMs)
  }
  return killed.size
}

const isOfRun = (pid: number, runsFolder: string): boolean =>
  initialEnvironment(pid).some((assignment) =>
    folderVariables.some((name) => assignment.startsWith(`${name}=${runsFolder}/`)),
  )

function leftProcesses(
  processes: readonly ProcessEntry[],
  leader: number,
  { assignments, uid }: Traces,
): readonly ProcessEntry[] {
  const tree = new Set(processTree(processes, leader).map(({ pid }) => pid))
  const isTraced = (pid: number): boolean => {
    if (process.platform !== "linux") return false
    if (uid !== undefined && ownerOf(pid) === uid) return true
    if (assignments.length === 0) return false
    const environment = initialEnvironment(pid)
    return assignments.every((assignment) => environment.includes(assignment))
  }
  return processes.filter(({ pid, isZombie }) => !isZombie && pid !== process.pid && (tree.has(pid) || isTraced(pid)))
}

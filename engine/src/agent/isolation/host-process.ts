// Runs commands as processes of the machine, as the agent's user or as another one.
import type { Command, Limits } from "./isolation.ts"
import { killLeftProcesses, tracingAssignments } from "./left-processes.ts"
import { privateMemory, processTree, readProcesses, sendSignal } from "./process-table.ts"
import { prlimitArguments } from "./resource-limits.ts"
import { type CommandControl, type Launch, resultOfExit } from "./supervised-command.ts"

interface HostProcess {
  readonly limits: Limits
  readonly prlimit: string | undefined
  /** Absent on machines without it, and if the user stays the same. */
  readonly setpriv?: string | undefined
  readonly owner?: Launch["owner"]
  /** Returns true if no other command runs as this user, so that all processes of the user belong to this one. */
  readonly isOnlyOfUser?: () => boolean
}

export function hostProcessControl(command: Command, options: HostProcess): CommandControl {
  const { limits, prlimit, setpriv, owner } = options
  const [program = command.program, ...args] = [
    ...(prlimit === undefined ? [] : [prlimit, ...prlimitArguments(limits.memoryBytes)]),
    // Programs with the setuid bit, such as sudo, then give no rights.
    ...(setpriv === undefined ? [] : [setpriv, "--no-new-privs", "--"]),
    command.program,
    ...command.args,
  ]
  const assignments = tracingAssignments(command.environment, command.root)
  return {
    launch: {
      program,
      args,
      cwd: command.cwd,
      environment: { ...command.environment, PWD: command.cwd },
      ...(owner === undefined ? {} : { owner }),
    },
    interrupt: (pid) => sendSignal(pid, "SIGINT"),
    kill: (pid) => void sendSignal(-pid, "SIGKILL"),
    cleanUp: (pid) =>
      killLeftProcesses(pid, { assignments, uid: options.isOnlyOfUser?.() === true ? owner?.uid : undefined }),
    ...(process.platform === "linux"
      ? {
          measureMemory: (pid: number) =>
            processTree(readProcesses(), pid).reduce((sum, one) => sum + privateMemory(one.pid), 0),
        }
      : {}),
    result: resultOfExit,
    release: () => Promise.resolve(),
  }
}

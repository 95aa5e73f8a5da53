// Runs commands with bubblewrap, in namespaces of their own (Linux).
import { lstat, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import {
  type BwrapOptions,
  bwrapArguments,
  environmentArguments,
  environmentRequest,
  type HiddenPath,
  isInside,
} from "./bwrap-arguments.ts"
import { type Command, type Isolation, IsolationError, type IsolationOptions, type Limits } from "./isolation.ts"
import { privateMemory, processTree, readProcess, readProcesses, sendSignal } from "./process-table.ts"
import { assertProgram, findProgram, runTool } from "./programs.ts"
import { describeMemory, prlimitArguments } from "./resource-limits.ts"
import { RunningCommands } from "./running-commands.ts"
import {
  type CommandControl,
  type ProcessExit,
  resultOfExit,
  superviseCommand,
  withoutSignalCode,
} from "./supervised-command.ts"
import { waitForEnd } from "./left-processes.ts"

/** Home folders contain credentials. The others contain sockets that give root rights to each program that can connect. */
const emptiedFolders = ["/home", "/root", "/run", "/var/tmp", "/var/snap", "/var/lib/lxd", "/var/lib/incus"]
/** Name resolution, and the programs of NixOS. */
const keptPaths = ["/etc/resolv.conf", "/run/current-system"]

export async function openSandbox(
  { limits, hidden }: IsolationOptions,
  agentEnvironment: NodeJS.ProcessEnv,
): Promise<Isolation> {
  if (process.platform !== "linux") throw new IsolationError(`isolation sandbox needs Linux; ${otherKinds}`)
  const bwrap = await findProgram("bwrap", agentEnvironment["PATH"])
  if (bwrap === undefined)
    throw new IsolationError(`isolation sandbox needs bwrap; install the package bubblewrap, or ${otherKinds}`)
  const help = await runTool(bwrap, ["--help"])
  const sandbox: Sandbox = {
    bwrap,
    prlimit: await findProgram("prlimit"),
    limits,
    view: async () => ({ ...(await readView(hidden)), hasSizes: / --size /.test(help.stdout + help.problem) }),
  }
  await assertWorks(sandbox)
  const { stdout: version } = await runTool(bwrap, ["--version"])
  const running = new RunningCommands()
  return {
    describe: () => [
      `isolation: sandbox (${version.trim()}): runs see no processes, home folders or tokens of the machine, and write only to their folder`,
      "network is not limited: runs can reach all addresses that the agent can reach",
      describeMemory(limits, process.platform, sandbox.prlimit),
    ],
    run: (command) => running.add(superviseCommand(() => sandboxControl(sandbox, command), limits, command.onOutput)),
    [Symbol.asyncDispose]: () => running.end(),
  }
}

const otherKinds = "choose another isolation: container, user or none"

interface Sandbox {
  readonly bwrap: string
  readonly prlimit: string | undefined
  readonly limits: Limits
  /** Read for each command, because hidden files are replaced. */
  view(): Promise<BwrapOptions>
}

async function readView(hidden: readonly string[]): Promise<Omit<BwrapOptions, "hasSizes">> {
  const emptied = await existing([...emptiedFolders, homedir()])
  const kept = (await existing(keptPaths)).filter((path) => emptied.some((folder) => isInside(path, folder)))
  const paths = await existing(hidden)
  const hiddenPaths = await Promise.all(
    paths.map(async (path): Promise<HiddenPath> => ({ path, isFolder: (await lstat(path)).isDirectory() })),
  )
  return { emptied: emptied.filter((path) => path !== "/"), kept, hidden: hiddenPaths }
}

/** Returns the paths that exist, without symbolic links and duplicates. */
async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)))
  return [...new Set(found.filter((path) => path !== undefined))]
}

/** Throws unless a program ends successfully in a sandbox. */
async function assertWorks(sandbox: Sandbox): Promise<void> {
  const program = process.execPath
  // Node is often installed in a home folder.
  const probe = {
    program,
    args: ["--version"],
    root: "/usr",
    cwd: "/usr",
    readable: [await realpath(program)],
    writable: [],
  }
  const args = bwrapArguments(probe, await sandbox.view())
  // Its status goes to a descriptor that this call does not open.
  const { isSuccess, problem } = await runTool(
    sandbox.bwrap,
    args.map((arg, index) => (args[index - 1] === "--json-status-fd" ? "1" : arg === "--bind" ? "--ro-bind" : arg)),
  )
  if (isSuccess) return
  throw new IsolationError(
    `isolation sandbox does not work: ${problem}; allow unprivileged user namespaces ` +
      `(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, ` +
      `or an AppArmor profile for bwrap), or ${otherKinds}`,
  )
}

async function sandboxControl(sandbox: Sandbox, command: Command): Promise<CommandControl> {
  await assertProgram(command.program)
  const resolved = {
    program: command.program,
    args: command.args,
    root: await resolvePath("root", command.root),
    cwd: await resolvePath("cwd", command.cwd),
    readable: await Promise.all(command.readable.map((path) => resolvePath("readable", path))),
    writable: await Promise.all(command.writable.map((path) => resolvePath("writable", path))),
  }
  const bwrap = [sandbox.bwrap, ...environmentRequest, ...bwrapArguments(resolved, await sandbox.view())]
  const { prlimit } = sandbox
  const limited = prlimit === undefined ? bwrap : [prlimit, ...prlimitArguments(sandbox.limits.memoryBytes), ...bwrap]
  let status = ""
  /** Process 1 of the sandbox. All processes in it end with it. */
  const init = () => Number(/"child-pid": (\d+)/.exec(status)?.[1] ?? 0)
  return {
    launch: {
      program: limited[0] ?? sandbox.bwrap,
      args: limited.slice(1),
      cwd: resolved.cwd,
      environment: {},
      input: environmentArguments(command.environment),
      onStatus: (text) => void (status += text),
    },
    interrupt: () => interruptProgram(init()),
    kill(pid) {
      // The end of process 1 ends the namespace, and bwrap then ends with it. Without one, nothing but bwrap has been started.
      if (init() === 0 || !sendSignal(init(), "SIGKILL")) sendSignal(-pid, "SIGKILL")
    },
    // bwrap ends with the program. The kernel then kills the others, which takes a moment.
    cleanUp: () => (init() === 0 ? Promise.resolve() : waitForEnd(init())),
    measureMemory: (pid) => processTree(readProcesses(), pid).reduce((sum, one) => sum + privateMemory(one.pid), 0),
    result(exit) {
      if (exit.reason === undefined && !status.includes('"exit-code"')) throw notStarted(command, exit)
      return resultOfExit(withoutSignalCode(exit))
    },
    release: () => Promise.resolve(),
  }
}

/** Sends SIGINT to the first process that process 1 started. It adopts others later, so the oldest child is the program. */
function interruptProgram(init: number): boolean {
  if (init === 0 || readProcess(init) === undefined) return false
  const [program] = readProcesses()
    .filter(({ parent }) => parent === init)
    .toSorted((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)
  return program !== undefined && sendSignal(program.pid, "SIGINT")
}

const notStarted = ({ program }: Command, { lastErrors }: ProcessExit): IsolationError =>
  new IsolationError(`${program} could not be started in a sandbox: ${lastErrors || "bwrap reported no reason"}`)

async function resolvePath(member: string, path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    throw new IsolationError(`${member} ${path} does not exist or is not accessible`, error)
  }
}

// Runs commands as another user of the machine. The agent needs the rights of root for that (Linux, macOS).
import { readFile, realpath } from "node:fs/promises"
import { hostProcessControl } from "./host-process.ts"
import { type Command, type Isolation, IsolationError, type IsolationOptions } from "./isolation.ts"
import { assertProgram, findProgram, runTool } from "./programs.ts"
import { describeMemory } from "./resource-limits.ts"
import { RunningCommands } from "./running-commands.ts"
import { superviseCommand } from "./supervised-command.ts"

interface Owner {
  readonly uid: number
  readonly gid: number
}

export async function openUserIsolation({ limits, runAs, hidden }: IsolationOptions): Promise<Isolation> {
  if (process.getuid?.() !== 0)
    throw new IsolationError(
      "isolation user needs an agent that runs as root; choose another isolation: sandbox or container",
    )
  if (runAs === undefined || runAs === "") throw new IsolationError("run-as is required by isolation user")
  const owner = await findUser(runAs)
  await assertHidden(hidden, runAs, owner)
  await assertProtectedLinks()
  const isLinux = process.platform === "linux"
  const prlimit = isLinux ? await findProgram("prlimit") : undefined
  const setpriv = isLinux ? await findProgram("setpriv") : undefined
  const running = new RunningCommands()
  return {
    describe: () => [
      `isolation: user ${runAs} (uid ${owner.uid}): runs read what this user can read, and can read the files of other runs at the same time`,
      "network is not limited: runs can reach all addresses that the agent can reach",
      describeMemory(limits, process.platform, prlimit),
      ...(setpriv === undefined ? ["setuid programs such as sudo are not disabled: setpriv was not found"] : []),
    ],
    run(command) {
      const prepare = async () => {
        await assertProgram(command.program)
        assertEnvironment(command)
        await giveFolders(command, owner)
        await assertReachable(command.root, runAs, owner)
        return hostProcessControl(command, { limits, prlimit, setpriv, owner, isOnlyOfUser: () => running.size === 1 })
      }
      return running.add(superviseCommand(prepare, limits, command.onOutput))
    },
    [Symbol.asyncDispose]: () => running.end(),
  }
}

async function findUser(name: string): Promise<Owner> {
  const [uid, gid] = await Promise.all(["-u", "-g"].map((option) => runTool("id", [option, "--", name])))
  if (uid?.isSuccess !== true || gid?.isSuccess !== true)
    throw new IsolationError(`run-as user ${name} does not exist on this machine`)
  const owner = { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  if (owner.uid === 0) throw new IsolationError("run-as must be a user without the rights of root")
  return owner
}

/** Throws if the user can read a file of the agent, or list or enter a folder of it. */
async function assertHidden(hidden: readonly string[], name: string, owner: Owner): Promise<void> {
  for (const path of hidden) {
    const readable = await runTool("/bin/sh", ["-c", '[ -r "$0" ] || { [ -d "$0" ] && [ -x "$0" ]; }', path], owner)
    if (readable.isSuccess)
      throw new IsolationError(
        `${path} is readable by ${name}; restrict it: chmod go= '${path.replaceAll("'", "'\\''")}'`,
      )
  }
}

/** The agent itself can enter every folder, so the program would start and then fail to write. */
async function assertReachable(root: string, name: string, owner: Owner): Promise<void> {
  const reachable = await runTool("/bin/sh", ["-c", '[ -w "$0" ]', root], owner)
  if (!reachable.isSuccess)
    throw new IsolationError(`root ${root} cannot be reached by ${name}; let it enter the folders above: chmod a+x`)
}

/** Without this protection, a run could link files of root into its folder, and the next command would give them to the user. */
async function assertProtectedLinks(): Promise<void> {
  const value = await readFile("/proc/sys/fs/protected_hardlinks", "utf8").catch(() => "1")
  if (value.trim() === "0")
    throw new IsolationError("isolation user needs protected hard links; set sysctl fs.protected_hardlinks=1")
}

/** The dynamic linker would run code of these variables before new rights are forbidden. */
function assertEnvironment({ environment }: Command): void {
  const name = Object.keys(environment).find((one) => /^(LD_|DYLD_|GLIBC_TUNABLES$)/.test(one))
  if (name !== undefined)
    throw new IsolationError(`environment ${name} cannot be set with isolation user; choose sandbox or container`)
}

/** Changes the owner with `chown`, which opens folders relative to each other, so that a link cannot divert it. */
async function giveFolders({ root, writable }: Command, { uid, gid }: Owner): Promise<void> {
  const folders = await Promise.all([root, ...writable].map((path) => realpath(path)))
  const { isSuccess, problem } = await runTool("chown", ["-R", "-h", "-P", `${uid}:${gid}`, "--", ...folders])
  if (!isSuccess) throw new IsolationError(`the owner of ${root} could not be changed: ${problem}`)
}

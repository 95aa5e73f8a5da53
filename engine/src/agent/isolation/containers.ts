// Runs each command in a container of its own, with podman or docker.
import { lstat, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, isAbsolute, join } from "node:path"
import { isInside } from "./bwrap-arguments.ts"
import { agentLabel, clientEnvironment, containerArguments, containerEnvironment } from "./container-arguments.ts"
import {
  type Command,
  type ContainerOptions,
  type Isolation,
  IsolationError,
  type IsolationOptions,
} from "./isolation.ts"
import { findProgram, type Output, runTool } from "./programs.ts"
import { mebibytes } from "./resource-limits.ts"
import { RunningCommands } from "./running-commands.ts"
import { sendSignal } from "./process-table.ts"
import {
  type CommandControl,
  type ProcessExit,
  resultOfExit,
  superviseCommand,
  withoutSignalCode,
} from "./supervised-command.ts"

const defaultProcessLimit = 1_024
const pullTimeoutMs = 10 * 60_000
/** The client of an engine that does not answer is killed then. */
const unansweredKills = 20

export async function openContainers(
  options: IsolationOptions,
  agentEnvironment: NodeJS.ProcessEnv,
): Promise<Isolation> {
  const { limits, container, agent } = options
  if (container === undefined || container.image === "")
    throw new IsolationError("container-image is required by isolation container")
  if (!/^[\w.-]+$/.test(agent))
    throw new IsolationError("agent must consist of letters, digits, dots, dashes and underscores")
  const engine = await openEngine(container, agentEnvironment)
  await assertImage(engine, container.image)
  await removeContainers(engine, agent)
  await removeEnvironmentFiles(agent)
  const running = new RunningCommands()
  return {
    describe: () => describeContainers(options, container, engine),
    run: (command) =>
      running.add(
        superviseCommand(() => containerControl(engine, options, container, command), limits, command.onOutput),
      ),
    async [Symbol.asyncDispose]() {
      await running.end()
      await removeContainers(engine, agent)
    },
  }
}

interface Engine {
  readonly program: string
  readonly name: "podman" | "docker"
  readonly environment: Readonly<Record<string, string>>
  readonly isRootlessPodman: boolean
  readonly hasCgroups: boolean
  call(args: readonly string[], timeout?: number): Promise<Output>
}

async function openEngine({ program: named }: ContainerOptions, agent: NodeJS.ProcessEnv): Promise<Engine> {
  const path = agent["PATH"] ?? ""
  const program =
    named === undefined
      ? ((await findProgram("podman", path)) ?? (await findProgram("docker", path)))
      : await findProgram(named, path)
  if (program === undefined)
    throw new IsolationError(
      named === undefined
        ? "isolation container needs podman or docker on the PATH; install one, or set container-program"
        : `container-program ${named} was not found${named.includes("/") && !isAbsolute(named) ? "; give an absolute path" : ""}`,
    )
  const environment = clientEnvironment(agent)
  const call = (args: readonly string[], timeout?: number) =>
    runTool(program, args, { env: environment, ...(timeout === undefined ? {} : { timeout }) })
  const version = await call(["--version"])
  const name = version.stdout.includes("podman") ? "podman" : "docker"
  const format = name === "podman" ? "{{.Host.Security.Rootless}} {{.Host.CgroupsVersion}}" : "false {{.MemoryLimit}}"
  const info = await call(["info", "--format", format])
  if (!info.isSuccess) throw new IsolationError(`${program} does not work: ${info.problem}`)
  const [isRootless, cgroups] = info.stdout.trim().split(" ")
  const isRootlessPodman = isRootless === "true"
  return {
    program,
    name,
    environment,
    isRootlessPodman,
    hasCgroups: name === "podman" ? !isRootlessPodman || cgroups === "v2" : cgroups === "true",
    call,
  }
}

async function assertImage(engine: Engine, image: string): Promise<void> {
  // A name that begins with a dash would be an option.
  if (image.startsWith("-")) throw new IsolationError(`container-image ${image} is no name of an image`)
  if ((await engine.call(["image", "inspect", image])).isSuccess) return
  const pulled = await engine.call(["pull", "--quiet", image], pullTimeoutMs)
  if (!pulled.isSuccess)
    throw new IsolationError(
      `container-image ${image} is not on this machine and could not be pulled: ${pulled.problem}`,
    )
}

/** Removes the containers of an agent, which only a crash leaves behind. */
async function removeContainers(engine: Engine, agent: string): Promise<void> {
  const listed = await engine.call(["ps", "--all", "--quiet", "--filter", `label=${agentLabel}=${agent}`])
  if (!listed.isSuccess) throw new IsolationError(`containers of ${agent} could not be listed: ${listed.problem}`)
  const ids = listed.stdout.split("\n").filter((id) => id !== "")
  if (ids.length === 0) return
  // Removal alone would first give a container ten seconds to stop.
  await engine.call(["kill", ...ids])
  const removed = await engine.call(["rm", "--force", ...ids])
  // One that its engine removed in the same moment is missing.
  if (!removed.isSuccess && !/no such container|no container with/i.test(removed.problem))
    throw new IsolationError(`containers of ${agent} could not be removed: ${removed.problem}`)
}

const environmentPrefix = (agent: string): string => `chancery-container-${agent}-`

/** A crash also leaves the environment of a command, with its secrets. */
async function removeEnvironmentFiles(agent: string): Promise<void> {
  const prefix = environmentPrefix(agent)
  for (const name of await readdir(tmpdir())) {
    // The six characters of mkdtemp: another agent's name may begin with this one's.
    if (!name.startsWith(prefix) || !/^\w{6}$/.test(name.slice(prefix.length))) continue
    const path = join(tmpdir(), name)
    const found = await lstat(path).catch(() => undefined)
    if (found?.uid === process.getuid?.()) await rm(path, { recursive: true, force: true })
  }
}

function describeContainers(
  { limits }: IsolationOptions,
  container: ContainerOptions,
  engine: Engine,
): readonly string[] {
  const processes = container.processLimit ?? defaultProcessLimit
  const { memoryBytes } = limits
  return [
    `isolation: container (${engine.name}, image ${container.image}): runs see the image and their folder`,
    container.network === "none"
      ? "network: none"
      : `network ${container.network ?? "of the engine"}: addresses that it reaches are not limited`,
    ...(engine.hasCgroups
      ? [
          memoryBytes === null
            ? "memory of runs is not limited: no limit is set"
            : `memory: at most ${mebibytes(memoryBytes)}`,
          `processes: at most ${processes}`,
        ]
      : [
          `memory and processes of runs are not limited: ${engine.name} cannot do so without cgroups 2 or the rights of root`,
        ]),
  ]
}

async function containerControl(
  engine: Engine,
  { limits, hidden, agent }: IsolationOptions,
  container: ContainerOptions,
  command: Command,
): Promise<CommandControl> {
  if (!isAbsolute(command.program))
    throw new IsolationError(`program must be an absolute path; ${command.program} is none`)
  const environment = containerEnvironment({ ...command.environment, PWD: command.cwd })
  const { uid, gid } = await assertMounts(command, hidden)
  // Outside of the run's folder, where the run could replace the file with a link.
  const folder = await mkdtemp(join(tmpdir(), environmentPrefix(agent)))
  const environmentFile = join(folder, "environment")
  const name = basename(folder)
  const release = () => rm(folder, { recursive: true, force: true })
  try {
    await writeFile(environmentFile, environment.file, { mode: 0o600, flag: "wx" })
    const args = containerArguments(command, {
      ...{ image: container.image, network: container.network, limits, agent, name, environmentFile },
      ...{ owner: { uid, gid }, hasCgroups: engine.hasCgroups, isRootlessPodman: engine.isRootlessPodman },
      processLimit: container.processLimit ?? defaultProcessLimit,
      passedVariables: Object.keys(environment.passed),
    })
    let killCount = 0
    return {
      launch: {
        program: engine.program,
        args,
        cwd: "/",
        environment: { ...engine.environment, ...environment.passed },
      },
      interrupt: async () => (await engine.call(["kill", "--signal", "INT", name])).isSuccess,
      async kill(pid) {
        killCount += 1
        // Fails until the container is there.
        const { isSuccess } = await engine.call(["kill", name])
        if (!isSuccess && killCount > unansweredKills) sendSignal(-pid, "SIGKILL")
      },
      async cleanUp() {
        // The client of a killed container may end before the engine has removed it.
        await engine.call(["rm", "--force", name])
      },
      result: (exit) => containerResult(exit, command, container.image, engine, limits.memoryBytes),
      release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

/** Throws if a mount would show a hidden path. Returns the owner of the run's folder. */
async function assertMounts(
  command: Command,
  hidden: readonly string[],
): Promise<{ readonly uid: number; readonly gid: number }> {
  const mounts = await Promise.all(
    [command.root, ...command.readable, ...command.writable].map((path) =>
      realpath(path).catch((error: unknown) => {
        throw new IsolationError(`${path} does not exist or is not accessible`, error)
      }),
    ),
  )
  for (const path of hidden) {
    const real = await realpath(path).catch(() => path)
    const mount = mounts.find((one) => isInside(real, one))
    if (mount !== undefined) throw new IsolationError(`${mount} contains ${path}, which is hidden from runs`)
  }
  return stat(command.root)
}

/** Exit codes of `run` itself: 125 if the engine failed, 126 and 127 if the program could not be executed or was not found. */
const engineFailure = 125
const notExecutable = 126
const notFound = 127
const killedCode = 137

function containerResult(
  exit: ProcessExit,
  { program }: Command,
  image: string,
  engine: Engine,
  memoryBytes: number | null,
) {
  const { code, reason, lastErrors } = exit
  if (reason === undefined && code !== null && [engineFailure, notExecutable, notFound].includes(code))
    throw new IsolationError(
      `${program} could not be started in a container of ${image}: ${lastErrors || `${engine.name} ended with ${code}`}`,
    )
  const result = resultOfExit(withoutSignalCode(exit))
  // If the agent did not kill the container, the kernel did, at the limit of the memory.
  const isOutOfMemory = reason === undefined && code === killedCode && memoryBytes !== null && engine.hasCgroups
  return isOutOfMemory ? { ...result, endedBy: "memory" as const } : result
}

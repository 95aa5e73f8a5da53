import { posix } from "node:path"
import { type Command, IsolationError, type Limits } from "./isolation.ts"

export interface ContainerArguments {
  readonly image: string
  readonly network: string | undefined
  readonly processLimit: number
  readonly limits: Pick<Limits, "memoryBytes">
  /** False for rootless engines on cgroups 1, which cannot limit memory and processes. */
  readonly hasCgroups: boolean
  readonly isRootlessPodman: boolean
  readonly agent: string
  readonly name: string
  readonly owner: { readonly uid: number; readonly gid: number }
  readonly environmentFile: string
  /** Names of variables that the engine's client passes on from its own environment. */
  readonly passedVariables: readonly string[]
}

type ContainedCommand = Pick<Command, "program" | "args" | "root" | "cwd" | "readable" | "writable">

export const agentLabel = "chancery.agent"
export const runLabel = "chancery.run"

/** Returns the arguments of podman and docker, which agree on these. */
export function containerArguments(command: ContainedCommand, options: ContainerArguments): readonly string[] {
  const { memoryBytes } = options.limits
  return [
    ...["run", "--rm", "--pull", "never", "--name", options.name],
    ...["--label", `${agentLabel}=${options.agent}`, "--label", `${runLabel}=${posix.basename(command.root)}`],
    // Logs of the engine would keep secrets that the run prints.
    ...["--log-driver", "none", "--read-only", "--tmpfs", "/tmp"],
    ...["--cap-drop", "all", "--security-opt", "no-new-privileges"],
    ...["--user", `${options.owner.uid}:${options.owner.gid}`],
    ...(options.isRootlessPodman ? ["--userns", "keep-id"] : []),
    ...(options.network === undefined ? [] : ["--network", options.network]),
    ...(options.hasCgroups ? ["--pids-limit", String(options.processLimit)] : []),
    // Without the second option, the engine allows the same amount of swap in addition.
    ...(memoryBytes === null || !options.hasCgroups
      ? []
      : ["--memory", String(memoryBytes), "--memory-swap", String(memoryBytes)]),
    ...["--env-file", options.environmentFile],
    ...options.passedVariables.flatMap((name) => ["--env", name]),
    ...command.readable.flatMap((path) => volume(path, "ro")),
    ...[...command.writable, command.root].flatMap((path) => volume(path, "rw")),
    ...["--workdir", command.cwd, "--entrypoint", command.program, options.image, ...command.args],
  ]
}

function volume(path: string, mode: "ro" | "rw"): readonly string[] {
  if (path.includes(":"))
    throw new IsolationError(`${path} must not contain a colon, because it is mounted into a container`)
  return ["--volume", `${path}:${path}:${mode}`]
}

export interface ContainerEnvironment {
  /** Text of the file for `--env-file`. */
  readonly file: string
  /** Variables for the environment of the engine's client. */
  readonly passed: Readonly<Record<string, string>>
}

/** podman and docker read lines of at most 64 KiB. */
const maxLineBytes = 65_000

/**
 * Splits an environment by how it reaches the container. Lines of an environment file cannot contain line breaks, so such values pass
 * through the client's environment. Only names that no client reads may do so: LD_PRELOAD of a run would otherwise act on the agent.
 */
export function containerEnvironment(environment: Readonly<Record<string, string>>): ContainerEnvironment {
  const lines: string[] = []
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (!/^[A-Za-z_][\w.-]*$/.test(name))
      throw new IsolationError(`environment has the name ${JSON.stringify(name)}, which containers cannot receive`)
    const fits = !/[\r\n]/.test(value) && Buffer.byteLength(value) <= maxLineBytes - name.length
    if (fits) lines.push(`${name}=${value}\n`)
    else if (/^(TF_VAR_\w+|GOOGLE_CREDENTIALS)$/.test(name)) passed[name] = value
    else
      throw new IsolationError(
        `environment ${name} has line breaks or more than ${maxLineBytes} bytes, which containers can receive only in ` +
          "TF_VAR_… and GOOGLE_CREDENTIALS; encode it as base64, or choose another isolation",
      )
  }
  return { file: lines.join(""), passed }
}

/** Variables that the client of an engine needs: where its socket, its configuration and its images are. */
const clientVariables =
  /^(PATH|HOME|USER|TMPDIR|XDG_(RUNTIME_DIR|CONFIG_HOME|DATA_HOME)|DOCKER_\w+|CONTAINERS?_\w+|DBUS_SESSION_BUS_ADDRESS)$/

/** Returns the part of the agent's environment that the client of an engine gets. The token is not in it. */
export const clientEnvironment = (agent: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(agent).flatMap(([name, value]) =>
      value !== undefined && clientVariables.test(name) ? [[name, value]] : [],
    ),
  )

/** A command of a run. All paths are absolute. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  /** Folder of the run, the only one that it can write: it contains the configuration, HOME and TMPDIR. */
  readonly root: string
  /** Working directory, in `root`. */
  readonly cwd: string
  /** Complete environment. Only PWD is added, and a container engine adds its own (docs/agent-isolation.md). */
  readonly environment: Readonly<Record<string, string>>
  /** Further folders that the command can read: tools, a provider mirror. */
  readonly readable: readonly string[]
  /** Further folders that the command can write: the plugin cache. */
  readonly writable: readonly string[]
  readonly onOutput: (bytes: Uint8Array, stream: OutputStream) => void
}

export type OutputStream = "stdout" | "stderr"

export interface CommandResult {
  /** Null if a signal ended the program. */
  readonly exitCode: number | null
  /** `interrupted` if it ended itself after SIGINT, `killed` if it did not do so within the grace time. */
  readonly endedBy: "exit" | "interrupted" | "killed" | "timeout" | "memory"
}

export interface RunningCommand {
  /** Resolves when the program and all processes that it started are gone. Rejects if the program could not be started. */
  readonly ended: Promise<CommandResult>
  /** Sends SIGINT to the program, and kills it with all its processes after the grace time. */
  interrupt(): void
  kill(): void
}

export interface Isolation extends AsyncDisposable {
  /** Returns lines for the start of the agent: what is isolated, and what cannot be limited on this machine. */
  describe(): readonly string[]
  run(command: Command): RunningCommand
  /** Kills running commands, and removes the containers of this agent. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface Limits {
  readonly timeMs: number
  readonly memoryBytes: number | null
  /** Time between SIGINT and SIGKILL. */
  readonly graceMs: number
}

export const isolationKinds = ["auto", "sandbox", "container", "user", "none"] as const
export type IsolationKind = (typeof isolationKinds)[number]

export interface ContainerOptions {
  /** Name or path of podman or docker. Default: the one on the PATH, podman first. */
  readonly program?: string
  readonly image: string
  /** Value of `--network`. Default: the engine's own. */
  readonly network?: string
  /** Number of processes and threads of a container. */
  readonly processLimit?: number
}

export interface IsolationOptions {
  readonly kind: IsolationKind
  readonly limits: Limits
  /** Labels containers. Unique among the agents of a container engine, and equal after a restart. */
  readonly agent: string
  /** Files and folders of the agent that runs must not read: its token, its configuration. */
  readonly hidden: readonly string[]
  /** Name of the user that runs commands. Required by `user`. */
  readonly runAs?: string
  /** Required by `container`. */
  readonly container?: ContainerOptions
}

/** The machine or the options do not allow this isolation, or a command could not be started. */
export class IsolationError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "IsolationError"
  }
}

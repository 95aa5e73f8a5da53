import { posix } from "node:path"
import { type Command, IsolationError } from "./isolation.ts"

/** The machine as a sandbox sees it. Paths contain no symbolic links. */
export interface SandboxView {
  /** Folders that appear empty: home folders, sockets of services. */
  readonly emptied: readonly string[]
  /** Paths that stay readable inside of emptied folders: the resolver's configuration. */
  readonly kept: readonly string[]
  readonly hidden: readonly HiddenPath[]
}

export interface HiddenPath {
  readonly path: string
  readonly isFolder: boolean
}

export interface BwrapOptions extends SandboxView {
  /** False for versions before 0.7, which cannot limit the size of a tmpfs. */
  readonly hasSizes: boolean
}

type SandboxedCommand = Pick<Command, "program" | "args" | "root" | "cwd" | "readable" | "writable">

const tmpBytes = 256 * 1_048_576
const sharedMemoryBytes = 64 * 1_048_576

/** Descriptor on which bwrap reports the process id and the exit code. */
const statusDescriptor = "3"

/** Returns the arguments of bwrap. Paths of the command contain no symbolic links. */
export function bwrapArguments(command: SandboxedCommand, options: BwrapOptions): readonly string[] {
  const size = (bytes: number): readonly string[] => (options.hasSizes ? ["--size", String(bytes)] : [])
  return [
    ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--json-status-fd", statusDescriptor],
    ...["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"],
    ...[...size(sharedMemoryBytes), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...mountArguments(command, options, [...size(tmpBytes), "--tmpfs", "/tmp"]),
    ...["--chdir", command.cwd, "--", command.program, ...command.args],
  ]
}

/** Descriptor from which bwrap reads further arguments. */
const requestDescriptor = "4"

/**
 * Arguments before all others. The environment of a run must not be that of bwrap itself, on which LD_PRELOAD would act outside of the
 * sandbox, and arguments are visible to all users of the machine. So it arrives through a pipe.
 */
export const environmentRequest = ["--args", requestDescriptor] as const

/** Returns what bwrap reads from the pipe. */
export function environmentArguments(environment: Readonly<Record<string, string>>): string {
  const assignments = Object.entries(environment).map(([name, value]) => {
    // The separator would begin a further argument of bwrap.
    if (name === "" || /[=\0]/.test(name) || value.includes("\0"))
      throw new IsolationError(
        `environment ${JSON.stringify(name)} must be a name without = and NUL, and a value without NUL`,
      )
    return `--setenv\0${name}\0${value}\0`
  })
  return `--clearenv\0${assignments.join("")}`
}

interface Mount {
  readonly path: string
  readonly rank: number
  readonly args: readonly string[]
  /** True for empty folders that become read-only when all mounts below them are made. */
  readonly isSealed: boolean
}

/** Orders mounts so that a path wins over its parents. At one path, hidden wins over writable, readable and emptied. */
function mountArguments(command: SandboxedCommand, options: BwrapOptions, tmp: readonly string[]): readonly string[] {
  assertMounts(command, options)
  const empty = (rank: number) => (path: string) => ({ path, rank, args: ["--tmpfs", path], isSealed: true })
  const readOnly = (path: string): Mount => ({ path, rank: 1, args: ["--ro-bind", path, path], isSealed: false })
  const mounts: readonly Mount[] = [
    { path: "/tmp", rank: 0, args: tmp, isSealed: false },
    ...options.emptied.map(empty(0)),
    ...[...options.kept, ...command.readable].map(readOnly),
    ...[...command.writable, command.root].map((path) => ({
      path,
      rank: 2,
      args: ["--bind", path, path],
      isSealed: false,
    })),
    ...options.hidden.map(({ path, isFolder }) =>
      isFolder ? empty(3)(path) : { path, rank: 3, args: ["--ro-bind", "/dev/null", path], isSealed: false },
    ),
  ]
  const ordered = mounts.toSorted((a, b) => compareText(`${a.path}/`, `${b.path}/`) || a.rank - b.rank)
  return [
    ...ordered.flatMap(({ args }) => args),
    ...ordered.flatMap(({ path, isSealed }) => (isSealed ? ["--remount-ro", path] : [])),
  ]
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Throws if a mount would replace the whole system, or uncover a hidden path. */
function assertMounts(command: SandboxedCommand, { hidden }: SandboxView): void {
  for (const path of [command.root, ...command.writable, ...command.readable]) {
    if (path === "/") throw new IsolationError("a folder of a run must not be /")
    const covered = hidden.find((one) => isInside(path, one.path) && !one.isFolder)
    if (covered !== undefined) throw new IsolationError(`${path} is the hidden file ${covered.path}`)
  }
  for (const path of [command.root, ...command.writable])
    if (hidden.some((one) => one.path === path)) throw new IsolationError(`${path} is hidden and cannot be writable`)
  if (!isInside(command.cwd, command.root)) throw new IsolationError(`cwd ${command.cwd} must be in ${command.root}`)
}

/** Returns true if `path` is `folder` or in it. Both are absolute and normalized. */
export const isInside = (path: string, folder: string): boolean =>
  !posix.relative(folder, path).split("/").includes("..")

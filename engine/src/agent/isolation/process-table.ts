// Reads the processes of the machine, from /proc on Linux and from ps elsewhere.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"

export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** True for ended processes whose parent has not read their exit code. */
  readonly isZombie: boolean
  /** Ticks since the boot; 0 if unknown. */
  readonly startedAt: number
}

export function readProcesses(): readonly ProcessEntry[] {
  if (process.platform !== "linux")
    return parsePs(execFileSync("ps", ["-axo", "pid=,ppid=,pgid=,stat="], { encoding: "utf8" }))
  return readdirSync("/proc").flatMap((name) => {
    const entry = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined
    return entry === undefined ? [] : [entry]
  })
}

/** Returns undefined if there is no such process. Linux only. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const text = readEntry(`/proc/${pid}/stat`)
  return text === undefined ? undefined : parseStat(text)
}

/** Parses `/proc/<pid>/stat`. The name of the program is in parentheses, and may contain blanks and parentheses. */
export function parseStat(text: string): ProcessEntry | undefined {
  const end = text.lastIndexOf(")")
  const fields = text.slice(end + 2).split(" ")
  const [state, parent, group, session] = fields
  const pid = Number.parseInt(text, 10)
  if (end < 0 || Number.isNaN(pid) || session === undefined) return undefined
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    isZombie: state === "Z" || state === "X",
    startedAt: Number(fields[19] ?? 0),
  }
}

/** Parses lines of pid, parent, group and state. macOS prints no session, so the group stands for it. */
export function parsePs(text: string): readonly ProcessEntry[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, parent, group, state] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)/.exec(line) ?? []
    if (pid === undefined) return []
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: Number(group),
        isZombie: state === "Z",
        startedAt: 0,
      },
    ]
  })
}

/** Returns the live processes that descend from `leader` or are in its process group or session, `leader` included. */
export function processTree(processes: readonly ProcessEntry[], leader: number): readonly ProcessEntry[] {
  const members = new Set(
    processes.filter((one) => [one.pid, one.group, one.session].includes(leader)).map(({ pid }) => pid),
  )
  for (let size = 0; size !== members.size;) {
    size = members.size
    for (const { pid, parent } of processes) if (members.has(parent)) members.add(pid)
  }
  return processes.filter(({ pid, isZombie }) => members.has(pid) && !isZombie)
}

/** Returns the memory that only this process occupies, in bytes; 0 if it is gone. Linux only. */
export const privateMemory = (pid: number): number => parsePrivateMemory(readEntry(`/proc/${pid}/status`) ?? "")

/** Sums anonymous and shared memory of `/proc/<pid>/status`. Mapped files are no use of memory that a limit could save. */
export function parsePrivateMemory(status: string): number {
  const found = status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)
  return [...found].reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0)
}

/** Returns the variables that a process was started with. Empty if the caller may not read them. Linux only. */
export const initialEnvironment = (pid: number): readonly string[] =>
  (readEntry(`/proc/${pid}/environ`) ?? "").split("\0")

/** Returns undefined if there is no such process. Linux only. */
export const ownerOf = (pid: number): number | undefined => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid

/** Sends a signal to a process, or to a process group if the number is negative. Returns false if there is none. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

function readEntry(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

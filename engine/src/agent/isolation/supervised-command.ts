// Runs one process to its end: output, time limit, memory limit, interruption, and the processes that it leaves behind.
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { type Command, type CommandResult, IsolationError, type Limits, type RunningCommand } from "./isolation.ts"

/** The process to start. It leads a session and a process group of its own. */
export interface Launch {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly owner?: { readonly uid: number; readonly gid: number }
  /** Receives text that the process writes to descriptor 3. Opens descriptors 3 and 4. */
  readonly onStatus?: (text: string) => void
  /** Text that the process reads from descriptor 4. */
  readonly input?: string
}

export interface ProcessExit {
  /** Null if a signal ended the process. */
  readonly code: number | null
  /** End of what it wrote to stderr. */
  readonly lastErrors: string
  /** Why the process was to end; undefined if it ended itself. */
  readonly reason: StopReason | undefined
}

type StopReason = Exclude<CommandResult["endedBy"], "exit">

/** Steps that differ between kinds of isolation. */
export interface CommandControl {
  readonly launch: Launch
  /** Sends SIGINT to the program. Returns false if it has not been started yet. */
  interrupt(pid: number): boolean | Promise<boolean>
  /** Kills the program and its processes. Called repeatedly until the process has ended. */
  kill(pid: number): void | Promise<void>
  /** Kills processes that are left when the process has ended, and waits for their end. */
  cleanUp(pid: number): Promise<void>
  /** Returns the memory of all processes of the command in bytes. Absent if it cannot be measured. */
  readonly measureMemory?: (pid: number) => number
  /** Throws if the exit shows that the program was not started. */
  result(exit: ProcessExit): CommandResult
  /** Removes files of the command. Also called if it was not started. */
  release(): Promise<void>
}

const signalRetryMs = 50
const killRetryMs = 500
/** A process that allocates 2 GB/s gets 500 MB further; prlimit stops it at twice the limit. */
const memoryIntervalMs = 250
/** Pipes that outlive all known processes are closed, so that a command cannot occupy a slot without end. */
const outputTimeoutMs = 5_000
const lastErrorsBytes = 2_048

export function superviseCommand(
  prepare: () => Promise<CommandControl>,
  limits: Limits,
  onOutput: Command["onOutput"],
): RunningCommand {
  const command = new SupervisedCommand(limits, onOutput)
  return {
    ended: command.run(prepare),
    interrupt: () => command.interrupt("interrupted"),
    kill: () => command.kill("killed"),
  }
}

interface Started {
  readonly control: CommandControl
  readonly pid: number
}

class SupervisedCommand {
  readonly #limits: Limits
  readonly #onOutput: Command["onOutput"]
  readonly #end = new AbortController()
  #reason: StopReason | undefined
  #isKilling = false
  #started: Started | undefined

  constructor(limits: Limits, onOutput: Command["onOutput"]) {
    this.#limits = limits
    this.#onOutput = onOutput
  }

  async run(prepare: () => Promise<CommandControl>): Promise<CommandResult> {
    const control = await prepare()
    try {
      if (this.#reason !== undefined) return { exitCode: null, endedBy: this.#reason }
      return await this.#supervise(control)
    } finally {
      this.#end.abort()
      await control.release()
    }
  }

  interrupt(reason: "interrupted" | "timeout"): void {
    if (this.#reason !== undefined || this.#end.signal.aborted) return
    this.#reason = reason
    // Before the start, the reason alone prevents it.
    if (this.#started !== undefined) this.#detach(this.#interruptStarted(this.#started))
  }

  kill(reason: "killed" | "memory"): void {
    if (this.#end.signal.aborted) return
    if (this.#reason === undefined || this.#reason === "interrupted") this.#reason = reason
    if (this.#started !== undefined && !this.#isKilling) this.#detach(this.#killStarted(this.#started))
  }

  async #supervise(control: CommandControl): Promise<CommandResult> {
    const child = start(control.launch)
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()))
    const lastErrors = this.#readOutput(child)
    const pid = await startedPid(child, control.launch)
    const started = { control, pid }
    this.#started = started
    if (this.#reason === "interrupted") this.#detach(this.#interruptStarted(started))
    else if (this.#reason !== undefined) this.#detach(this.#killStarted(started))
    const timer = setTimeout(() => this.interrupt("timeout"), this.#limits.timeMs)
    const meter = this.#watchMemory(control, pid)
    const code = await exited
    clearTimeout(timer)
    clearInterval(meter)
    this.#end.abort()
    await control.cleanUp(pid)
    await Promise.race([closed, sleep(outputTimeoutMs, undefined, { ref: false })])
    for (const stream of child.stdio) stream?.destroy()
    return control.result({ code, lastErrors: lastErrors(), reason: this.#reason })
  }

  #readOutput(child: ChildProcess): () => string {
    let last = Buffer.alloc(0)
    child.stdout?.on("data", (bytes: Buffer) => this.#onOutput(bytes, "stdout"))
    child.stderr?.on("data", (bytes: Buffer) => {
      last = Buffer.concat([last, bytes]).subarray(-lastErrorsBytes)
      this.#onOutput(bytes, "stderr")
    })
    return () => last.toString().trim()
  }

  #watchMemory({ measureMemory }: CommandControl, pid: number): NodeJS.Timeout | undefined {
    const { memoryBytes } = this.#limits
    if (memoryBytes === null || measureMemory === undefined) return undefined
    return setInterval(() => {
      if (measureMemory(pid) > memoryBytes) this.kill("memory")
    }, memoryIntervalMs)
  }

  async #interruptStarted({ control, pid }: Started): Promise<void> {
    const grace = setTimeout(() => this.kill("killed"), this.#limits.graceMs)
    this.#end.signal.addEventListener("abort", () => clearTimeout(grace))
    while (!this.#end.signal.aborted && !(await control.interrupt(pid))) await sleep(signalRetryMs)
  }

  async #killStarted({ control, pid }: Started): Promise<void> {
    this.#isKilling = true
    while (!this.#end.signal.aborted) {
      await control.kill(pid)
      await sleep(killRetryMs, undefined, { signal: this.#end.signal }).catch(() => undefined)
    }
  }

  /** Signals are repeated until the end, so a failed attempt is no failure of the command. */
  #detach(work: Promise<void>): void {
    work.catch(() => undefined)
  }
}

function start({ program, args, cwd, environment, owner, onStatus, input }: Launch): ChildProcess {
  const child = spawn(program, args, {
    cwd,
    env: environment,
    detached: true,
    stdio: onStatus === undefined ? ["ignore", "pipe", "pipe"] : ["ignore", "pipe", "pipe", "pipe", "pipe"],
    ...owner,
  })
  const [, , , status, request] = child.stdio as readonly [unknown, unknown, unknown, Readable?, Writable?]
  status?.setEncoding("utf8").on("data", (text: string) => onStatus?.(text))
  // A process that ends early breaks the pipes. Its exit tells more.
  status?.on("error", () => undefined)
  request?.on("error", () => undefined)
  request?.end(input)
  return child
}

async function startedPid(child: ChildProcess, { program, cwd }: Launch): Promise<number> {
  const failure = await new Promise<Error | undefined>((resolve) => {
    child.once("spawn", () => resolve(undefined))
    child.once("error", resolve)
  })
  if (failure === undefined && child.pid !== undefined) return child.pid
  throw new IsolationError(
    `${program} could not be started in ${cwd}: ${failure?.message ?? "it has no process"}`,
    failure,
  )
}

/** Returns the result of a program whose process is the launched one. */
export function resultOfExit({ code, reason }: ProcessExit): CommandResult {
  if (reason !== undefined) return { exitCode: code, endedBy: reason }
  return { exitCode: code, endedBy: code === null ? "killed" : "exit" }
}

/** Wrappers end with 128 and the number of the signal that ended the program. */
export const withoutSignalCode = (exit: ProcessExit): ProcessExit =>
  exit.code !== null && exit.code > 128 && exit.code <= 128 + 64 ? { ...exit, code: null } : exit

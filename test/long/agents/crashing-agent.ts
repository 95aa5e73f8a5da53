// `chancery agent` in a process that is killed (SIGKILL) and started again with the same data folder.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { initialEnvironment, readProcesses } from "../../../engine/src/agent/isolation/process-table.ts"
import { main } from "../../cli/chancery.ts"

/** Variable by which commands of a run know their agent. */
export const agentNameVariable = "CHANCERY_TEST_AGENT"

const lookMs = 50
const maxLooks = 2_400

export interface CrashingAgentOptions {
  /** Parent of the data folder. */
  readonly folder: string
  readonly url: string
  readonly token: string
  readonly leaseSeconds: number
}

export class CrashingAgent {
  readonly name: string
  /** Times of kills, in milliseconds since 1970. */
  readonly killedAt: number[] = []
  /** Descriptions of exits that the test did not cause. */
  readonly ends: string[] = []
  readonly #data: string
  readonly #words: readonly string[]
  #process: ChildProcess | undefined
  #output = ""

  private constructor(name: string, data: string, words: readonly string[]) {
    this.name = name
    this.#data = data
    this.#words = words
  }

  /** Prepares an agent without starting it. */
  static async prepare(
    name: string,
    { folder, url, token, leaseSeconds }: CrashingAgentOptions,
  ): Promise<CrashingAgent> {
    const data = join(folder, name)
    await mkdir(data)
    const tokenFile = join(folder, `${name}.token`)
    await writeFile(tokenFile, token, { mode: 0o600 })
    // Commands of the runs write to a file outside of their folder, which only `none` allows.
    const words = ["agent", "--engine-url", url, "--token-file", tokenFile, "--data", data, "--name", name]
    return new CrashingAgent(name, data, [
      ...words,
      ...["--isolation", "none", "--pass-env", agentNameVariable, "--slots", "2"],
      ...["--lease", `${leaseSeconds}s`, "--snapshot-interval", "1s", "--grace-time", "10s"],
    ])
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [main, ...this.#words], {
      env: { ...process.env, [agentNameVariable]: this.name },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text
        this.#output += text
      })
    child.once("exit", (code, signal) => {
      if (this.#process === child) this.ends.push(`${this.name} ended with ${code ?? signal}: ${output}`)
    })
    this.#process = child
    for (let look = 0; look < maxLooks && !output.includes("waits for runs."); look += 1) {
      expect(this.ends).toEqual([])
      await sleep(lookMs)
    }
  }

  async kill(): Promise<void> {
    const child = this.#release()
    if (child === undefined) return
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
    this.killedAt.push(Date.now())
  }

  /** Stops the agent as a supervisor does, and returns its exit code. */
  async stop(): Promise<number | null> {
    const child = this.#release()
    if (child === undefined) return null
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    const [code] = (await ended) as [number | null]
    return code
  }

  /** Returns what all processes of the agent printed. */
  output(): string {
    return this.#output
  }

  /** Returns the folders of runs that are left. */
  runFolders(): Promise<readonly string[]> {
    return readdir(join(this.#data, "runs")).catch(() => [])
  }

  /** Returns the states of the run that no server stored. */
  async unsavedStates(runId: string): Promise<readonly string[]> {
    const folder = join(this.#data, "unsaved-states")
    const names = await readdir(folder).catch(() => [])
    return Promise.all(
      names.filter((name) => name.startsWith(runId)).map((name) => readFile(join(folder, name), "utf8")),
    )
  }

  /** Returns the processes of its runs. */
  processes(): readonly number[] {
    return readProcesses()
      .filter(({ isZombie }) => !isZombie)
      .map(({ pid }) => pid)
      .filter((pid) => initialEnvironment(pid).some((assignment) => assignment.includes(`${this.#data}/runs/`)))
  }

  #release(): ChildProcess | undefined {
    const child = this.#process
    this.#process = undefined
    return child?.exitCode === null && child.signalCode === null ? child : undefined
  }
}

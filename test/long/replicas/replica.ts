// One of several real servers on one PostgreSQL, which can be killed, paused and stopped.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { request } from "undici"
import { main } from "../../cli/chancery.ts"
import { freePort } from "../../free-port.ts"

/** Exit code if the database is unreachable; a supervisor restarts the server. */
const exitOfTemporaryFailure = 75
/** Number of lines. */
const lastWords = 20
const lookMs = 20
const maxLooks = 6_000

export interface ReplicaOptions {
  /** Folder of its audit log. */
  readonly folder: string
  readonly storage: string
  readonly sealKey: string
  /** Flags of further settings. */
  readonly settings: readonly string[]
}

export class Replica {
  readonly port: number
  /** Lines on standard error: errors, and no warnings. */
  readonly errors: string[] = []
  /** Descriptions of exits that the test did not cause. */
  readonly ends: string[] = []
  readonly #options: ReplicaOptions
  #process: ChildProcess | undefined

  private constructor(port: number, options: ReplicaOptions) {
    this.port = port
    this.#options = options
  }

  /** Prepares a replica without starting it. */
  static async prepare(name: string, options: ReplicaOptions): Promise<Replica> {
    const folder = join(options.folder, name)
    await mkdir(folder)
    return new Replica(await freePort(), { ...options, folder })
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Resolves when the replica is ready. */
  async start(): Promise<void> {
    let child = this.#spawn()
    for (let look = 0; look < maxLooks; look += 1) {
      if (child.exitCode === exitOfTemporaryFailure) child = this.#spawn()
      else if (child.exitCode !== null) throw new Error(`the replica ended with ${child.exitCode}`)
      if (await this.#isReady()) return
      await sleep(lookMs)
    }
    throw new Error("the replica was not ready within two minutes")
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL")
  }

  /** Stops the replica gracefully, as a supervisor does. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM")
  }

  pause(): void {
    this.#process?.kill("SIGSTOP")
  }

  resume(): void {
    this.#process?.kill("SIGCONT")
  }

  #spawn(): ChildProcess {
    const { storage, sealKey, folder, settings } = this.#options
    const listen = ["--listen", `127.0.0.1:${this.port}`, "--log-level", "error"]
    const child = spawn(process.execPath, [main, "serve", ...listen, ...settings], {
      env: { ...process.env, CHANCERY_DATA: folder, CHANCERY_STORAGE: storage, CHANCERY_SEAL_KEY: sealKey },
      stdio: ["ignore", "ignore", "pipe"],
    })
    child.stderr?.setEncoding("utf8").on("data", (text: string) => this.errors.push(...text.trimEnd().split("\n")))
    child.once("exit", (code, signal) => {
      if (this.#process === child && code !== exitOfTemporaryFailure)
        this.ends.push(`${this.port} ended with ${code ?? signal}: ${this.errors.slice(-lastWords).join("\n")}`)
    })
    this.#process = child
    return child
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }

  async #isReady(): Promise<boolean> {
    try {
      const { statusCode, body } = await request(`${this.url}/readyz`)
      await body.dump()
      return statusCode === 200
    } catch {
      return false
    }
  }
}

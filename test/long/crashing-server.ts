// The real server in a process that is killed (SIGKILL) and started again on the same database and port.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { request } from "undici"
import { expect } from "vitest"
import type { CrashStore } from "./crash-store.ts"
import { freePort } from "../free-port.ts"
import { seededRandom } from "../../engine/testing/seeded-random.ts"

const main = fileURLToPath(new URL("../../engine/src/cli/main.ts", import.meta.url))

export class CrashingServer {
  readonly url: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #port: number
  readonly #settings: readonly string[]
  #process: ChildProcess | undefined

  private constructor({ folder, url, sealKey }: CrashStore, port: number, settings: readonly string[]) {
    this.#environment = {
      CHANCERY_DATA: folder,
      CHANCERY_STORAGE: url,
      ...(sealKey === undefined ? {} : { CHANCERY_SEAL_KEY: sealKey }),
    }
    this.#settings = settings
    this.#port = port
    this.url = `http://127.0.0.1:${port}`
  }

  /** Prepares a server with further flags, without starting it. */
  static async prepare(store: CrashStore, settings: readonly string[] = []): Promise<CrashingServer> {
    return new CrashingServer(store, await freePort(), settings)
  }

  async rootToken(): Promise<string> {
    await chancery(this.#environment, "organization", "create", "default", "--email", "crash@example.com")
    const { token } = JSON.parse(await chancery(this.#environment, "token", "create", "--user", "root", "--json"))
    return token
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [
        main,
        "serve",
        "--listen",
        `127.0.0.1:${this.#port}`,
        "--rate-limit",
        "off",
        "--log-level",
        "error",
        ...this.#settings,
      ],
      {
        env: { ...process.env, ...this.#environment },
        stdio: ["ignore", "ignore", "inherit"],
      },
    )
    this.#process = child
    for (let attempt = 0; attempt < 12_000; attempt += 1) {
      expect(child.exitCode, "the server ends by itself").toBeNull()
      if (await isReady(this.url)) return
      await sleep(10)
    }
    throw new Error("the server was not ready within two minutes")
  }

  /** Returns the peak memory of the process since its start. */
  peakMemoryMiB(): number {
    const status = readFileSync(`/proc/${this.#process?.pid}/status`, "utf8")
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  }

  async kill(): Promise<void> {
    const child = this.#process
    if (child === undefined) return
    this.#process = undefined
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`)
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}

async function chancery(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk))
  const [code] = (await once(child, "close")) as [number]
  expect(code).toBe(0)
  return output
}

/** Returns a generator of integers from 0 to `limit` - 1. */
export function randomIntegers(from: number): (limit: number) => number {
  const source = seededRandom(from)
  return (limit) => new DataView(source.bytes(4).buffer).getUint32(0) % limit
}

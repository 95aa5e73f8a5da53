// Runs the built server as a user does, in a separate process, with the operations that benches need.
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Agent, request } from "undici"
import { freePort } from "../free-port.ts"

export const main = fileURLToPath(new URL("../../engine/dist/cli/main.js", import.meta.url))

export interface RunningChancery extends AsyncDisposable {
  readonly port: number
  readonly token: string
  readonly organization: string
  /** Milliseconds from the start of the process to the first 200 of /readyz. */
  readonly readyAfterMs: number
  send(
    method: "GET" | "POST" | "PATCH",
    path: string,
    document?: unknown,
    // oxlint-disable-next-line typescript/no-explicit-any
  ): Promise<{ status: number; body: any; bytes: number }>
  /** Sends a request below `/v1`. */
  pki(
    method: "GET" | "POST",
    path: string,
    document?: unknown,
    // oxlint-disable-next-line typescript/no-explicit-any
  ): Promise<{ status: number; body: any; bytes: number }>
  /** Returns the processor time of all threads of the process. */
  cpuMs(): number
  /** Returns the present resident memory of the process in MiB. */
  memoryMiB(): number
  /** Returns the peak resident memory of the process in MiB. */
  peakMemoryMiB(): number
}

/**
 * Starts a server with the embedded database of a folder, created if missing, or with the database that `storage` names. `settings` are
 * further flags.
 */
export async function startChancery(
  folder: string,
  settings: readonly string[] = [],
  storage?: { readonly url: string; readonly sealKey: string },
): Promise<RunningChancery> {
  const env = {
    ...process.env,
    CHANCERY_DATA: folder,
    ...(storage && { CHANCERY_STORAGE: storage.url, CHANCERY_SEAL_KEY: storage.sealKey }),
  }
  const run = (...args: string[]) => execFileSync(process.execPath, [main, ...args], { env, encoding: "utf8" })
  const organization = "bench"
  const { token } = JSON.parse(run("token", "create", "--user", "root", "--json")) as { token: string }
  const known = run("organization", "list", "--json")
  if (!known.includes(`"${organization}"`)) run("organization", "create", organization, "--email", "bench@example.com")

  const port = await freePort()
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [
      main,
      "serve",
      "--listen",
      `127.0.0.1:${port}`,
      "--rate-limit",
      "off",
      "--log-level",
      "warn",
      "--access-log",
      "off",
      ...settings,
    ],
    { env, stdio: ["ignore", "inherit", "inherit"] },
  )
  await untilReady(port, child)
  const readyAfterMs = performance.now() - began
  const agent = new Agent({ connections: 64 })
  const ask = async (method: "GET" | "POST" | "PATCH", path: string, document?: unknown) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(document === undefined ? {} : { body: JSON.stringify(document) }),
    })
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} answers ${answer.statusCode}: ${text}`)
    return { status: answer.statusCode, body: text === "" ? undefined : JSON.parse(text), bytes: text.length }
  }
  return {
    port,
    token,
    organization,
    readyAfterMs,
    send: (method, path, document) => ask(method, `/api/v2${path}`, document),
    pki: (method, path, document) => ask(method, `/v1${path}`, document),
    cpuMs: () => processorMs(child.pid ?? 0),
    memoryMiB: () => mebibytes(child.pid, "VmRSS"),
    peakMemoryMiB: () => mebibytes(child.pid, "VmHWM"),
    async [Symbol.asyncDispose]() {
      await agent.close()
      if (child.exitCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
    },
  }
}

/** Returns an amount of memory of a process. Source: proc(5). */
function mebibytes(pid: number | undefined, name: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(new RegExp(String.raw`^${name}:\s+(\d+) kB`, "m").exec(status)?.[1]) / 1024
}

const tickMs = 10

/**
 * Returns the processor time of a process with all its threads, or of its ended children. Source: proc(5), fields 14 to 17, in hundredths
 * of a second.
 */
export function processorMs(pid: number, whose: "own" | "ended children" = "own"): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const first = whose === "own" ? 11 : 13
  return (Number(fields[first]) + Number(fields[first + 1])) * tickMs
}

async function untilReady(port: number, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 6_000; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    try {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/readyz`)
      await body.dump()
      if (statusCode === 200) return
    } catch {
      // Not listening yet.
    }
    await sleep(5)
  }
  throw new Error("the server was not ready within 30 s")
}

// The command `chancery` in a separate process: the bundle if the setup of the run made one, else the sources.
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../free-port.ts"
import { bundledVariable } from "../toolchain/bundled-chancery.ts"

export const main =
  process.env[bundledVariable] ?? fileURLToPath(new URL("../../engine/src/cli/main.ts", import.meta.url))

/** The built command, with the subcommands of other packages. */
export const builtChancery = fileURLToPath(new URL("../../engine/bin/chancery.js", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly stderr: string
}

/** Killed on disposal, whatever the result of the test. */
export interface Running extends AsyncDisposable {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Returns the standard error so far, which contains the log. */
  stderr(): string
  out(): string
}

export interface Invocation {
  readonly environment?: Readonly<Record<string, string>>
  readonly folder?: string
  /** Default: `main`. */
  readonly program?: string
}

export function start(
  words: readonly string[],
  { environment = {}, folder, program = main }: Invocation = {},
): Running {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    ...(folder === undefined ? {} : { cwd: folder }),
  })
  let out = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, out, stderr }))
  })
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL")
    await ended
  }
  return { child, ended, stderr: () => stderr, out: () => out, [Symbol.asyncDispose]: kill }
}

export const run = (words: readonly string[], invocation?: Invocation): Promise<Ended> => start(words, invocation).ended

export interface Served extends Running {
  readonly url: string
}

/** One attempt every 25 ms: a busy machine can stall for a while. */
const readyAttempts = 4_800

/** Starts a server and waits for its readiness probe. */
export async function serve(words: readonly string[], invocation: Invocation = {}): Promise<Served> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const running = start(words, {
    ...invocation,
    environment: {
      CHANCERY_LISTEN: `127.0.0.1:${port}`,
      // The default is the next port, which another process may use.
      ...(words[0] === "dev" ? { CHANCERY_TLS_LISTEN: "127.0.0.1:0" } : {}),
      ...invocation.environment,
    },
  })
  let over = false
  void running.ended.then(() => (over = true))
  for (let attempt = 0; attempt < readyAttempts; attempt += 1) {
    if (over) throw new Error(`chancery ${words.join(" ")} ended: ${JSON.stringify(await running.ended)}`)
    if (await isReady(url)) {
      return { ...running, url }
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  running.child.kill("SIGKILL")
  throw new Error(`chancery ${words.join(" ")} did not become ready: ${running.stderr()}`)
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}

export interface Folder extends AsyncDisposable {
  readonly path: string
}

export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "chancery-"))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

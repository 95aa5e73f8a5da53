// The built operator in a separate process, with the access of its ServiceAccount. Tests can measure and kill it.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import type { KubeConfig } from "@kubernetes/client-node"
import { request } from "undici"

const main = fileURLToPath(new URL("../../../operator/dist/main.js", import.meta.url))
const listeningMs = 60_000

export interface OperatorProcess extends AsyncDisposable {
  readonly child: ChildProcess
  /** Base URL of its metrics. */
  readonly url: string
  /** Returns the sum of a metric over all labels, or over the lines that contain all `words`. */
  metric(name: string, ...words: readonly string[]): Promise<number>
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<unknown>
  /** Kills the process immediately with SIGKILL. */
  kill(): Promise<void>
  /** Shuts the process down with SIGTERM and returns the exit code. */
  end(): Promise<number | null>
  log(): string
}

export interface OperatorProcessOptions {
  readonly config: KubeConfig
  /** Path that the configuration is written to. */
  readonly kubeconfig: string
  readonly namespace: string
  readonly identity: string
  readonly args?: readonly string[]
}

export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const { config, kubeconfig, namespace, identity, args = [] } = options
  await writeFile(kubeconfig, config.exportConfig(), { mode: 0o600 })
  const own = ["--kubeconfig", kubeconfig, "--namespace", namespace, "--identity", identity, "--listen", "127.0.0.1:0"]
  const child = spawn(process.execPath, [main, ...own, ...args], { stdio: ["ignore", "ignore", "pipe"] })
  let log = ""
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the operator does not listen:\n${log}`)), listeningMs)
    createInterface({ input: child.stderr }).on("line", (line) => {
      log = `${log}${line}\n`.slice(-100_000)
      const found = /"event":"listening","url":"([^"]+)"/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on("exit", (code) => reject(new Error(`the operator ended with ${code}:\n${log}`)))
    child.on("exit", () => clearTimeout(late))
    child.on("error", reject)
  })
  const ended = once(child, "exit")
  const over = async () => {
    if (child.exitCode === null && child.signalCode === null) await ended
    return child.exitCode
  }
  const kill = async () => {
    child.kill("SIGKILL")
    await over()
  }
  return {
    child,
    url,
    ended,
    log: () => log,
    async metric(name, ...words) {
      const text = await (await request(`${url}/metrics`)).body.text()
      return text
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => words.every((word) => line.includes(word)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0)
    },
    kill,
    async end() {
      child.kill("SIGTERM")
      return over()
    },
    [Symbol.asyncDispose]: kill,
  }
}

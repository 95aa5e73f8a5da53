// Runs the example service in a separate process.
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../../examples/policy-service/policy-service.ts", import.meta.url))
export const tlsFile = (name: string): string => fileURLToPath(new URL(`../cli/tls/${name}.pem`, import.meta.url))

export interface RunningPolicyService extends AsyncDisposable {
  readonly url: string
  /** Returns its output so far. */
  stderr(): string
}

export interface PolicyServiceFiles {
  readonly certificate: string
  readonly key: string
  /** Without a CA for client certificates, the service answers every client. */
  readonly clientAuthority?: string
}

/** Starts the service. Default: the certificate of the tests and, for its clients, the tests' CA. */
export async function startPolicyService(
  files: PolicyServiceFiles = {
    certificate: tlsFile("server"),
    key: tlsFile("server-key"),
    clientAuthority: tlsFile("authority"),
  },
): Promise<RunningPolicyService> {
  const { certificate, key, clientAuthority } = files
  const words = ["--listen", "127.0.0.1:0", "--certificate", certificate, "--key", key]
  if (clientAuthority !== undefined) words.push("--client-authority", clientAuthority)
  const child: ChildProcess = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "inherit"] })
  let stderr = ""
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", () => reject(new Error(`the policy service ended: ${stderr}`)))
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
      const [, address] = /listening on (https:\S+)/.exec(stderr) ?? []
      if (address !== undefined) resolve(address)
    })
  })
  return {
    url,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended
    },
  }
}

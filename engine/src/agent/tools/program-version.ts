import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { type ToolKind, toolNames } from "./tool.ts"
import { ToolError } from "./tool-error.ts"

const timeoutMs = 30_000
const maxOutputBytes = 64 * 1024

/**
 * Returns the version that a program reports. Throws `ToolError` if it is not a program of this kind. The plain output of `version` is
 * read, because `version -json` does not tell Terraform from OpenTofu.
 */
export async function readProgramVersion(kind: ToolKind, program: string, signal: AbortSignal): Promise<string> {
  const { product } = toolNames[kind]
  const output = await run(program, signal)
  const [, name, version] = /^(Terraform|OpenTofu) v(\d[0-9A-Za-z.+-]*)/m.exec(output) ?? []
  if (name !== product || version === undefined)
    throw new ToolError(`${program} is not ${product}: \`version\` prints ${JSON.stringify(output.slice(0, 80))}`)
  return version
}

async function run(program: string, signal: AbortSignal): Promise<string> {
  // No other variables: those of the agent contain its token. The program reads no settings from folders that runs may write.
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/", TF_CLI_CONFIG_FILE: "/dev/null", CHECKPOINT_DISABLE: "1" }
  try {
    const options = {
      env,
      cwd: "/",
      signal,
      timeout: timeoutMs,
      maxBuffer: maxOutputBytes,
      killSignal: "SIGKILL",
    } as const
    const { stdout } = await promisify(execFile)(program, ["version"], options)
    return stdout
  } catch (error) {
    if (signal.aborted) throw error
    const { code, killed } = error as { readonly code?: unknown; readonly killed?: boolean }
    const problem = killed === true ? `does not end within ${timeoutMs / 1_000} s` : `fails (${String(code)})`
    throw new ToolError(`${program} version ${problem}`, error)
  }
}

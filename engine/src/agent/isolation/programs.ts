import { execFile } from "node:child_process"
import { constants } from "node:fs"
import { access, stat } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { promisify } from "node:util"
import { IsolationError } from "./isolation.ts"

/** Returns the absolute path of a program, or undefined if there is none. Names are searched on the PATH. */
export async function findProgram(name: string, path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  const candidates = name.includes("/") ? [name] : path.split(delimiter).map((folder) => join(folder, name))
  for (const candidate of candidates) if (isAbsolute(candidate) && (await isProgram(candidate))) return candidate
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

export async function assertProgram(path: string): Promise<void> {
  if (!isAbsolute(path)) throw new IsolationError(`program must be an absolute path; ${path} is none`)
  if (!(await isProgram(path))) throw new IsolationError(`program ${path} was not found or is not executable`)
}

export interface Output {
  readonly isSuccess: boolean
  readonly stdout: string
  /** Error output, or the reason why the program was not started. */
  readonly problem: string
}

const toolTimeoutMs = 60_000

/** Runs a program of the machine, and returns its output also if it fails. */
export async function runTool(
  program: string,
  args: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv
    readonly uid?: number
    readonly gid?: number
    readonly timeout?: number
  } = {},
): Promise<Output> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      timeout: toolTimeoutMs,
      cwd: "/",
      ...options,
    })
    return { isSuccess: true, stdout, problem: stderr.trim() }
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string }
    return { isSuccess: false, stdout, problem: stderr.trim() || message }
  }
}

// Programs that tests use from Debian packages: the system's, else the one in the cache.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"
import { installDebianPackages } from "./debian-packages.ts"
import { warnMissing } from "./missing.ts"

export interface PublicProgram {
  readonly advice: string
  /** Returns the name or path of the program. */
  find(): Promise<string | undefined>
  install(): Promise<void>
}

/** Returns the program. If there is none, logs a warning and returns undefined; in CI it throws. */
export const publicProgram = async ({ find, advice }: PublicProgram): Promise<string | undefined> =>
  (await find()) ?? warnMissing(advice)

export const candidates = (tool: string, program: string): readonly string[] => [
  program,
  join(cacheFolder(tool), "bin", program),
]

export const install = (
  tool: string,
  names: readonly string[],
  programs: (root: string) => Promise<readonly string[]>,
): Promise<void> => installDebianPackages({ names, folder: cacheFolder(tool), programs })

/** Returns the first program whose output for these arguments, on either stream, matches the pattern. */
export async function firstThat(
  pattern: RegExp,
  args: readonly string[],
  programs: readonly string[],
): Promise<string | undefined> {
  for (const program of programs) {
    if (program.includes("/") && !existsSync(program)) continue
    const answer = await promisify(execFile)(program, args).catch(() => undefined)
    if (answer !== undefined && pattern.test(answer.stdout + answer.stderr)) return program
  }
  return undefined
}

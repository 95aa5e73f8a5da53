// Programs of Debian's that tests talk to: whichever the machine has, else the one in the cache.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"
import { installDebianPackages } from "./debian-packages.ts"
import { sayMissing } from "./missing.ts"

export interface PublicProgram {
  readonly advice: string
  /** The program, as it is to be called. */
  find(): Promise<string | undefined>
  install(): Promise<void>
}

/** Undefined, and said loudly, where there is none; in CI that is an error. */
export const publicProgram = async ({ find, advice }: PublicProgram): Promise<string | undefined> =>
  (await find()) ?? sayMissing(advice)

export const candidates = (tool: string, program: string): readonly string[] => [
  program,
  join(cacheFolder(tool), "bin", program),
]

export const install = (
  tool: string,
  names: readonly string[],
  programs: (root: string) => Promise<readonly string[]>,
): Promise<void> => installDebianPackages({ names, folder: cacheFolder(tool), programs })

/** The first program that answers the arguments, on either stream, with what the pattern finds. */
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

// A package as an earlier commit builds it, in a folder of its own.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { cp, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { sayLoudly } from "../toolchain/missing.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

export interface Build extends AsyncDisposable {
  /** Of the commit, in full. */
  readonly commit: string
  readonly folder: string
  /** The file of the command. */
  readonly program: string
}

/** Undefined where the commit is not there, as in a clone without history, which is said. */
export async function commitNamed(name: string): Promise<string | undefined> {
  try {
    return (await run("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], { cwd: root })).stdout.trim()
  } catch {
    // No tool that could be installed: a copy of the sources alone has nothing to be upgraded from.
    sayLoudly(
      `There is no commit ${name}, so no upgrade from it is tried. It takes a clone with its history (git fetch --unshallow).`,
    )
    return undefined
  }
}

/** With the packages that it stands on. */
export async function buildOf(commit: string, workspace: "engine" | "provider" = "engine"): Promise<Build> {
  const folder = await mkdtemp(join(tmpdir(), "chancery-previous-"))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await checkOut(commit, folder)
    if (await isSame("package-lock.json", folder)) await linkPackages(folder)
    else await run("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: folder })
    await run("npm", ["exec", "--", "tsc", "-b", workspace], { cwd: folder })
    return { commit, folder, program: join(folder, "engine/bin/chancery.js"), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function checkOut(commit: string, folder: string): Promise<void> {
  const archive = join(folder, ".commit.tar")
  await run("git", ["archive", "--output", archive, commit], { cwd: root })
  await run("tar", ["-x", "-f", archive, "-C", folder])
  await rm(archive)
}

async function isSame(path: string, folder: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all([readFile(join(root, path)), readFile(join(folder, path))])
  return ours.equals(theirs)
}

/** The same packages, as far as the engine asks for them; the links between our own are relative, and lead to those of the folder. */
async function linkPackages(folder: string): Promise<void> {
  for (const path of ["node_modules", "engine/node_modules"].filter((each) => existsSync(join(root, each)))) {
    const [from, to] = [join(root, path), join(folder, path)]
    // Hard links cost nothing, and are refused where the folder is on another file system.
    await run("cp", ["-al", from, dirname(to)]).catch(() =>
      cp(from, to, { recursive: true, verbatimSymlinks: true, force: true }),
    )
  }
}

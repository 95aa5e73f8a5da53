// Builds a package as of an earlier commit, in a separate folder.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { cp, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { printNotice } from "../toolchain/missing.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

export interface Build extends AsyncDisposable {
  /** Full hash of the commit. */
  readonly commit: string
  readonly folder: string
  /** Path of the command. */
  readonly program: string
}

/** Returns the hash of a commit. If it is missing, as in a shallow clone, this logs a warning and returns undefined. */
export async function commitNamed(name: string): Promise<string | undefined> {
  try {
    return (await run("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], { cwd: root })).stdout.trim()
  } catch {
    // Not an error in CI, because no installation would help: a copy of the sources without history cannot be upgraded from.
    printNotice(
      `There is no commit ${name}, so no upgrade from it is tried. It takes a clone with its history (git fetch --unshallow).`,
    )
    return undefined
  }
}

/** Builds a workspace of the commit, with its dependencies. */
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

/** Links the dependencies of this checkout. The links between our own packages are relative, so they lead to those in the folder. */
async function linkPackages(folder: string): Promise<void> {
  for (const path of ["node_modules", "engine/node_modules"].filter((each) => existsSync(join(root, each)))) {
    const [from, to] = [join(root, path), join(folder, path)]
    // Hard links are cheap, but fail if the folder is on another file system.
    await run("cp", ["-al", from, dirname(to)]).catch(() =>
      cp(from, to, { recursive: true, verbatimSymlinks: true, force: true }),
    )
  }
}

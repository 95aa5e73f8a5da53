// Installs programs from the Python package index, each in its own virtual environment in the cache, keyed by its pinned packages.
import { execFile, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, rename, rm, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { cacheFolder } from "./cache.ts"
import { installAsRoot } from "./debian-packages.ts"

/** Returns the program; its name defaults to that of the folder. */
export async function findPythonProgram(folder: string, name = basename(folder)): Promise<string | undefined> {
  const environment = await environmentOf(folder)
  return existsSync(join(environment, "whole")) ? join(environment, "bin", name) : undefined
}

/** Installs the packages that `requirements.txt` in the folder pins by hashes. */
export async function installPythonProgram(folder: string): Promise<void> {
  const python = (await findPython()) ?? (await installPython())
  const environment = await environmentOf(folder)
  // A virtual environment contains its own path, so it cannot be built elsewhere and moved. An incomplete one is built again.
  await rm(environment, { recursive: true, force: true })
  await run(python, ["-m", "venv", environment])
  const pinned = ["--requirement", join(folder, "requirements.txt"), "--require-hashes", "--only-binary", ":all:"]
  await run(join(environment, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", ...pinned])
  await writeFile(join(environment, "unfinished"), "")
  await rename(join(environment, "unfinished"), join(environment, "whole"))
}

async function environmentOf(folder: string): Promise<string> {
  const pinned = await readFile(join(folder, "requirements.txt"))
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`).update(pinned).digest("hex")
  return join(cacheFolder("python"), `${basename(folder)}-${hash.slice(0, 16)}`)
}

/** Returns a Python with venv and TLS, which some builds lack. */
async function findPython(): Promise<string | undefined> {
  const able = "import ensurepip, ssl, sys, venv; sys.exit(sys.version_info < (3, 10))"
  for (const python of ["python3", "/usr/bin/python3"]) {
    const answers = await promisify(execFile)(python, ["-c", able]).then(
      () => true,
      () => false,
    )
    if (answers) return python
  }
  return undefined
}

async function installPython(): Promise<string> {
  if (process.platform === "linux" && process.getuid?.() === 0) await installAsRoot(["python3-venv"])
  const found = await findPython()
  if (found === undefined) throw new Error("there is no Python 3.10 or newer with its module venv")
  return found
}

/** Runs a program and passes its output through. */
function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] })
    child.on("error", reject)
    child.on("close", (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} ${args.join(" ")} ended with ${code}`))
    })
  })
}

// Installs Debian packages as root, or else unpacks them into the cache, where only the tests use them. Packages with services are always
// unpacked, because their services would start on installation.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, mkdir, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises"
import { basename, join, relative } from "node:path"

interface DebianPackages {
  readonly names: readonly string[]
  /** Folder to unpack into if they cannot be installed; the programs are in its folder `bin`. */
  readonly folder: string
  /** Returns the paths of the programs below the folder that the packages were unpacked to. */
  programs(root: string): Promise<readonly string[]>
  readonly isService?: boolean
}

export async function installDebianPackages(packages: DebianPackages): Promise<void> {
  if (process.platform !== "linux") throw new Error("it can be installed on Debian and its kin only")
  if (process.getuid?.() === 0 && packages.isService !== true) await installAsRoot(packages.names)
  else await unpack(packages)
}

export async function installAsRoot(names: readonly string[]): Promise<void> {
  await run("apt-get", ["update", "-qq"])
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...names])
}

async function unpack({ names, folder, programs }: DebianPackages): Promise<void> {
  const root = join(folder, "root")
  const lists = join(folder, "lists")
  const archives = join(folder, "archives")
  await rm(folder, { recursive: true, force: true })
  for (const each of [root, lists, archives]) await mkdir(each, { recursive: true })
  // An unprivileged user cannot update the system's package lists either, so this uses separate ones.
  const apt = (...args: readonly string[]) =>
    run("apt-get", ["-o", `Dir::State::lists=${lists}`, "-o", `Dir::Cache=${folder}`, ...args], archives)
  await apt("update", "-qq")
  // Names of the packages that apt would install in addition to those of the system.
  const plan = await apt("install", "--simulate", "--no-install-recommends", ...names)
  const planned = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? "")
  if (planned.length === 0) throw new Error(`the machine has ${names.join(", ")} already, though not to be called`)
  await apt("download", "-qq", ...planned)
  for (const name of await readdir(archives)) {
    if (name.endsWith(".deb")) await run("dpkg", ["-x", join(archives, name), root])
  }
  for (const each of [lists, archives]) await rm(each, { recursive: true })
  await keepLinksInside(root, root)
  await writeLaunchers(root, await programs(root), join(folder, "bin"))
}

/** Packages link to their configuration by absolute paths, which would lead out of the folder. */
async function keepLinksInside(root: string, folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await keepLinksInside(root, path)
    if (!entry.isSymbolicLink()) continue
    const target = await readlink(path)
    if (!target.startsWith("/") || !existsSync(join(root, target))) continue
    await rm(path)
    await symlink(relative(folder, join(root, target)), path)
  }
}

/**
 * Writes launchers that set the library paths, because the libraries, including Python's, are in the same folder, outside the default
 * search paths.
 */
async function writeLaunchers(root: string, programs: readonly string[], folder: string): Promise<void> {
  const lib = join(root, "usr/lib")
  const libraries = (existsSync(lib) ? await readdir(lib) : [])
    .filter((name) => name.endsWith("-linux-gnu"))
    .map((name) => join(lib, name))
  const modules = join(root, "usr/lib/python3/dist-packages")
  await mkdir(folder)
  for (const program of programs) {
    const launcher = join(folder, basename(program))
    const paths = `LD_LIBRARY_PATH="${libraries.join(":")}" PYTHONPATH="${modules}"`
    const text = `#!/bin/sh\n${paths} exec "${join(root, program)}" "$@"\n`
    await writeFile(launcher, text)
    await chmod(launcher, 0o755)
  }
}

/** Runs a program without input and returns its output; its error stream is passed through. */
function run(program: string, args: readonly string[], cwd = "/"): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] })
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
    child.on("error", reject)
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${program} ${args.join(" ")} ended with ${code}`)),
    )
  })
}

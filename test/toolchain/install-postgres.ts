// Debian's packages: installed by root, otherwise unpacked into the cache, where nothing but the tests sees them.
import { spawn } from "node:child_process"
import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { cacheFolder } from "./cache.ts"

export async function installPostgres(): Promise<void> {
  if (process.platform !== "linux") throw new Error("it can be installed on Debian and its kin only")
  if (process.getuid?.() === 0) await installAsRoot()
  else await unpack(cacheFolder("postgresql"))
}

async function installAsRoot(): Promise<void> {
  await run("apt-get", ["update", "-qq"])
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "postgresql"])
}

async function unpack(folder: string): Promise<void> {
  const root = join(folder, "root")
  await rm(folder, { recursive: true, force: true })
  await mkdir(root, { recursive: true })
  // What apt would install beside what the machine has, by name.
  const plan = await run("apt-get", ["install", "--simulate", "--no-install-recommends", "postgresql"])
  const packages = [...plan.matchAll(/^Inst (\S+)/gm)].map((match) => match[1] ?? "")
  await run("apt-get", ["download", "-qq", ...packages], folder)
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".deb"))
  for (const archive of archives) {
    await run("dpkg", ["-x", join(folder, archive), root])
    await rm(join(folder, archive))
  }
  await writeLaunchers(root, join(folder, "bin"))
}

/** The libraries came along into the same folder, where the loader would not look. */
async function writeLaunchers(root: string, folder: string): Promise<void> {
  const versions = join(root, "usr/lib/postgresql")
  const [version] = (await readdir(versions)).toSorted((a, b) => Number(b) - Number(a))
  if (version === undefined) throw new Error("the packages held no server")
  const libraries = (await readdir(join(root, "usr/lib")))
    .filter((name) => name.endsWith("-linux-gnu"))
    .map((name) => join(root, "usr/lib", name))
  await mkdir(folder)
  for (const program of ["initdb", "pg_ctl", "postgres"]) {
    const path = join(versions, version, "bin", program)
    const launcher = join(folder, program)
    await writeFile(launcher, `#!/bin/sh\nLD_LIBRARY_PATH="${libraries.join(":")}" exec "${path}" "$@"\n`)
    await chmod(launcher, 0o755)
  }
}

/** Runs a program without input and gives its output; what it says on its error stream is for the reader. */
function run(program: string, args: readonly string[], cwd = "/"): Promise<string> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] })
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
    child.on("error", reject)
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${program} ${args[0] ?? ""} ended with ${code}`)),
    )
  })
}

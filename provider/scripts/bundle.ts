// Writes bundled/, by which a packed provider runs in Pulumi's process for dynamic resources: its own code, the engine's and all
// that they stand on, as they were compiled. npm runs it before it packs.
import { readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { type Plugin, rolldown } from "rolldown"

const provider = join(import.meta.dirname, "..")
const engine = dirname(createRequire(import.meta.url).resolve("@chancery/engine"))

/** Threads are started from files of their own, beside the code that starts them. */
const programs = {
  v1: join(provider, "dist/v1.js"),
  "rsa-key-thread": join(engine, "jobs/rsa-key-thread.js"),
  "checkpoint-thread": join(engine, "storage/checkpoint-thread.js"),
  "state-contents-thread": join(engine, "storage/state-contents-thread.js"),
}

/** What the engine loads by itself, with its first use, is found from where the engine is installed. */
const requiredByEngine: Plugin = {
  name: "required-by-engine",
  transform: {
    filter: { code: "createRequire(import.meta.url)", id: /[\\/]engine[\\/]dist[\\/]/ },
    handler: (code) =>
      code.replaceAll(
        "createRequire(import.meta.url)",
        'createRequire(createRequire(import.meta.url).resolve("@chancery/engine"))',
      ),
  },
}

export async function bundleProvider(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const bundle = await rolldown({
    input: programs,
    platform: "node",
    // What is bundled is compiled already.
    tsconfig: false,
    // An optional part of pg.
    external: ["pg-native"],
    plugins: [requiredByEngine],
  })
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // The text of all code stays in memory, twice as large where a comment has a dash; licenses have a file of their own.
    comments: false,
  })
  await bundle.close()
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
  await writeFile(join(folder, "LICENSES.txt"), await licensesOf(modules))
}

/** Of the packages of others that are in the bundle, whose licenses want to go along. */
async function licensesOf(modules: readonly string[]): Promise<string> {
  const packages = new Set(
    modules.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? ""),
  )
  packages.delete("")
  const texts: string[] = []
  for (const folder of [...packages].toSorted()) {
    const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest
    const license = await licenseIn(folder)
    if (license === undefined) throw new Error(`${name} does not show its license, and cannot be bundled`)
    texts.push(`${name} ${version}\n\n${license.trim()}\n`)
  }
  return texts.join(`\n${"-".repeat(80)}\n\n`)
}

/** A file of its own, or the end of what is to be read first. */
async function licenseIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder)
  const file = names.find((name) => /^licen[cs]e(\.|$)/i.test(name))
  if (file !== undefined) return readFile(join(folder, file), "utf8")
  const readme = names.find((name) => /^readme\./i.test(name))
  if (readme === undefined) return undefined
  return /^#+ licen[cs]e$(.*)/ims.exec(await readFile(join(folder, readme), "utf8"))?.[1]
}

interface Manifest {
  readonly name: string
  readonly version: string
}

if (import.meta.main) await bundleProvider(join(provider, "bundled"))

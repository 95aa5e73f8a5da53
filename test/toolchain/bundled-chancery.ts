// Bundles the command `chancery` from its sources into a few files instead of thirteen hundred. Finding, reading and linking the files
// takes most of the time of a process that lives for a second, and the tests start hundreds.
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const engine = join(root, "engine")

/** Environment variable with the path of the bundled command, for the tests of a run. */
export const bundledVariable = "CHANCERY_TEST_PROGRAM"

/** Threads are started from separate files, next to the code that starts them. */
const programs = {
  main: "cli/main.ts",
  "rsa-key-thread": "jobs/rsa-key-thread.ts",
  "password-thread": "jobs/password-thread.ts",
  "checkpoint-thread": "storage/sqlite/checkpoint-thread.ts",
  "state-contents-thread": "storage/repositories/workspaces/state-contents-thread.ts",
}

export interface BundledChancery extends AsyncDisposable {
  readonly main: string
}

/** Bundles the current sources. The bundle is private to this run, and is removed on disposal. */
export async function bundleChancery(): Promise<BundledChancery> {
  // Modules outside the bundle, such as the operator, resolve from this folder as they do from the sources.
  const caches = join(root, "node_modules/.cache")
  await mkdir(caches, { recursive: true })
  const folder = await mkdtemp(join(caches, "chancery-"))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    // Must be two folders up, as in the sources.
    await cp(join(engine, "package.json"), join(folder, "package.json"))
    // Imported on demand, because every test file that starts a process imports this module for the variable.
    const { rolldown } = await import("rolldown")
    const bundle = await rolldown({
      input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(engine, "src", path)])),
      platform: "node",
      // An optional part of pg, and packages of Chancery that resolve where they are installed.
      external: ["pg-native", /^@chancery\//],
    })
    const dir = join(folder, "dist/cli")
    await bundle.write({ dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" })
    await bundle.close()
    return { main: join(dir, "main.js"), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

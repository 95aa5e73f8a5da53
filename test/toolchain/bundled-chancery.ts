// The command `chancery` from its sources, in a few files instead of thirteen hundred: to find, read and link each of them is
// most of what a process does that lives for a second, and the tests start hundreds.
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const engine = join(root, "engine")

/** For the tests of a run: where the command is that they start. */
export const bundledVariable = "CHANCERY_TEST_PROGRAM"

/** Threads are started from files of their own, beside the code that starts them. */
const programs = {
  main: "cli/main.ts",
  "rsa-key-thread": "jobs/rsa-key-thread.ts",
  "checkpoint-thread": "storage/sqlite/checkpoint-thread.ts",
  "state-contents-thread": "storage/repositories/workspaces/state-contents-thread.ts",
}

export interface BundledChancery extends AsyncDisposable {
  readonly main: string
}

/** Of the sources as they are now; nobody else's run sees it, and it is gone at the end of its scope. */
export async function bundleChancery(): Promise<BundledChancery> {
  // Whatever is not in the bundle, such as the operator, is found from there as it is found from the sources.
  const caches = join(root, "node_modules/.cache")
  await mkdir(caches, { recursive: true })
  const folder = await mkdtemp(join(caches, "chancery-"))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    // Two folders up, as from the sources.
    await cp(join(engine, "package.json"), join(folder, "package.json"))
    // Every test file that starts a process asks this one where the bundle is.
    const { rolldown } = await import("rolldown")
    const bundle = await rolldown({
      input: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(engine, "src", path)])),
      platform: "node",
      // An optional part of pg, and a part of Chancery that is found where it is installed.
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

// What a user gets: the packed engine, installed into an empty folder, loads.
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

test("the packed engine installs into an empty folder and loads", { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-package-"))
  try {
    await run("npm", ["run", "build"], { cwd: root })
    const { stdout: packed } = await run(
      "npm",
      ["pack", "--json", "--workspace", "engine", "--pack-destination", folder],
      {
        cwd: root,
      },
    )
    const [tarball] = JSON.parse(packed) as Packed[]
    const contents = tarball?.files.map(({ path }) => path) ?? []
    expect(contents).toContain("dist/index.js")
    expect(contents.filter((path) => !path.startsWith("dist/")).toSorted()).toEqual([
      "LICENSE",
      "README.md",
      "bin/chancery.js",
      "package.json",
    ])
    expect(contents.filter((path) => path.includes(".test."))).toEqual([])

    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball?.filename}`], {
      cwd: folder,
    })
    const program = 'console.log(Object.keys(await import("@chancery/engine")).join(" "))'
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder })
    expect(stdout.split(/\s+/)).toContain("openEngine")
    await expect(run(join(folder, "node_modules/.bin/chancery"), ["--help"])).resolves.toMatchObject({
      stdout: expect.stringContaining("chancery"),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

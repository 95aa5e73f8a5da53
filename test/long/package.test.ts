// What a user gets: the packed engine, installed into an empty folder, loads.
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
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

test("the packed provider loads in an empty folder beside Pulumi's SDK, and is found as a state names it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-package-"))
  try {
    await run("npm", ["run", "build"], { cwd: root })
    const tarballs: string[] = []
    for (const workspace of ["engine", "provider"]) {
      const { stdout } = await run("npm", ["pack", "--json", "--workspace", workspace, "--pack-destination", folder], {
        cwd: root,
      })
      const [tarball] = JSON.parse(stdout) as Packed[]
      tarballs.push(`./${tarball?.filename}`)
      expect(tarball?.files.map(({ path }) => path).filter((path) => path.includes(".test."))).toEqual([])
    }
    // A program in CommonJS: what a state holds asks with `require`, from the program's folder.
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }))
    const { version } = JSON.parse(await readFile(join(root, "node_modules/@pulumi/pulumi/package.json"), "utf8")) as {
      readonly version: string
    }
    await run(
      "npm",
      ["install", "--prefer-offline", "--no-audit", "--no-fund", ...tarballs, `@pulumi/pulumi@${version}`],
      {
        cwd: folder,
      },
    )
    const program = `
      const { Workspace } = require("@chancery/pulumi")
      const address = "exports.handler=()=>require(\\"@chancery/pulumi/provider\\").v1.workspace;"
      const provider = require("require-from-string")(address).handler()
      console.log(typeof Workspace, Object.keys(provider).join(" "))`
    const { stdout } = await run(process.execPath, ["--eval", program], { cwd: folder })
    expect(stdout.trim()).toBe("function configure check diff create read update delete")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

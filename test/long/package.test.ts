// The packed engine, as users get it, installed into an empty folder, loads.
import { execFile } from "node:child_process"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { openEmbedded } from "../../engine/src/embedded.ts"
import { providerText } from "../../provider/src/dynamic/pulumi-resource.ts"
import { typedPage } from "../documents/typed-page.ts"
import { startDynamicServer } from "../e2e/pulumi/dynamic-server.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)
const guide = typedPage(import.meta.url, "docs/operations.md")

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
    expect(contents.filter((path) => /\.test\.|\/testing\/|\.map$/.test(path))).toEqual([])

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

test("the command is installed with the commands of the guide, typed as written", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-package-"))
  try {
    await run("npm", ["run", "build"], { cwd: root })
    // Copies the parts of the checkout that packing needs, so that nothing is written into this one.
    await cp(join(root, "package.json"), join(folder, "package.json"))
    for (const each of ["package.json", "bin", "dist", "LICENSE", "README.md"])
      await cp(join(root, "engine", each), join(folder, "engine", each), { recursive: true })
    const prefix = join(folder, "usr")
    const output = await guide
      .block("Install")
      .without(/^npm (ci|run build)$/)
      .type({
        folder,
        environment: {
          PATH: [join(prefix, "bin"), process.env["PATH"]].join(delimiter),
          HOME: process.env["HOME"],
          npm_config_prefix: prefix,
          npm_config_prefer_offline: "true",
        },
      })
    const { version } = JSON.parse(await readFile(join(root, "engine/package.json"), "utf8")) as Versioned
    expect(output.trim().split("\n").at(-1)).toBe(version)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test("the packed provider loads in an empty folder beside Pulumi's SDK, and is found by the name in a state", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-package-"))
  try {
    await run("npm", ["run", "build"], { cwd: root })
    const contents: string[] = []
    const tarballs: string[] = []
    for (const workspace of ["engine", "provider"]) {
      const { stdout } = await run("npm", ["pack", "--json", "--workspace", workspace, "--pack-destination", folder], {
        cwd: root,
      })
      const [tarball] = JSON.parse(stdout) as Packed[]
      tarballs.push(`./${tarball?.filename}`)
      contents.push(...(tarball?.files.map(({ path }) => path) ?? []))
    }
    expect(contents.filter((path) => path.includes(".test."))).toEqual([])
    expect(contents.filter((path) => /^(bundled|scripts|src)\//.test(path))).toEqual([])
    expect(contents).toContain("dist/v1.js")
    // The program is CommonJS, because provider code in a state resolves packages with `require`, from the program's folder.
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

/** Fetched for this test only. */
const checks = [
  { program: "publint@0.3.25", args: ["publint", "run", "--strict"] },
  // Packages are for Node 24 and newer, where `require` loads ES modules.
  { program: "@arethetypeswrong/cli@0.18.5", args: ["attw", "--pack", "--profile", "esm-only"] },
]

// Both exit with a non-zero status if they find a problem.
test.each(checks)("packages pass $program", async ({ program, args }) => {
  await run("npm", ["run", "build"], { cwd: root })
  for (const workspace of ["engine", "provider"])
    await expect(
      run("npm", ["exec", "--yes", "--package", program, "--", ...args, join(root, workspace)], { cwd: root }),
    ).resolves.toMatchObject({
      stdout: expect.stringContaining(`@chancery/${workspace === "engine" ? "engine" : "pulumi"}`),
    })
})

/** The newest version that reads overrides from its own file; fetched for this test only. */
const pnpm = "pnpm@12.21.0"

test("the packed provider works in a pnpm layout, for programs in JavaScript and in TypeScript", async () => {
  const folder = await mkdtemp(join(tmpdir(), "chancery-package-"))
  try {
    await run("npm", ["run", "build"], { cwd: root })
    for (const workspace of ["engine", "provider"])
      await run("npm", ["pack", "--workspace", workspace, "--pack-destination", folder], { cwd: root })
    const { version } = JSON.parse(await readFile(join(root, "provider/package.json"), "utf8")) as Versioned
    const sdk = JSON.parse(await readFile(join(root, "node_modules/@pulumi/pulumi/package.json"), "utf8")) as Versioned
    const engine = `file:./chancery-engine-${version}.tgz`
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    // No registry has the engine before it is released.
    await writeFile(join(folder, "pnpm-workspace.yaml"), `overrides:\n  "@chancery/engine": ${engine}\n`)
    const packages = [`./chancery-pulumi-${version}.tgz`, `@pulumi/pulumi@${sdk.version}`]
    await run("npm", ["exec", "--yes", "--package", pnpm, "--", "pnpm", "add", "--ignore-scripts", ...packages], {
      cwd: folder,
    })
    // Only the requested packages are at the top level.
    expect((await readdir(join(folder, "node_modules/@chancery"))).toSorted()).toEqual(["pulumi"])

    const programs = {
      "program.cjs": `const { Workspace } = require("@chancery/pulumi"); console.log(typeof Workspace)`,
      "program.ts": `import { Workspace, type WorkspaceArgs } from "@chancery/pulumi"
        const args: WorkspaceArgs = { autoApply: true }
        console.log(typeof Workspace, args.autoApply)`,
    }
    const printed: string[] = []
    for (const [name, program] of Object.entries(programs)) {
      await writeFile(join(folder, name), program)
      printed.push((await run(process.execPath, [name], { cwd: folder })).stdout.trim())
    }
    expect(printed).toEqual(["function", "function true"])

    const url = `sqlite:${join(folder, "engine.db")}`
    {
      await using embedded = await openEmbedded(url, { jobs: false })
      await embedded.organizations.create({ name: "acme", email: "acme@example.com" })
    }
    await using server = await startDynamicServer({ CHANCERY_ENGINE_URL: url }, folder)
    const declared = { organization: "acme", name: "api", __marker: "m", __provider: providerText("workspace") }
    const { id, outs } = await server.create(declared)
    expect(await server.diff(id, outs, declared)).toEqual({ isSame: true, replaces: [] })
    await server.delete(id, outs)
    expect(await server.read(id, outs)).toBeUndefined()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

interface Versioned {
  readonly version: string
}

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

// Pulumi starts a process for each instance of the provider, and users wait for each command, so rarely needed modules are loaded on
// demand.
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const sourceOf = (path: string): string => pathToFileURL(join(root, path)).href

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "chancery-loading-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Loaded {
  readonly packages: readonly string[]
  /** Modules that belong to no package. */
  readonly ownCount: number
}

/** Returns the modules that a separate process has loaded after running this code. */
async function loadedAfter(work: string): Promise<Loaded> {
  const program = `
    import { registerHooks } from "node:module"
    const packages = new Set()
    const own = new Set()
    registerHooks({
      load(url, context, next) {
        const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? []
        if (name !== undefined) packages.add(name)
        else if (url.startsWith("file:")) own.add(url)
        return next(url, context)
      },
    })
    ${work}
    process.stdout.write(JSON.stringify({ packages: [...packages].toSorted(), ownCount: own.size }))`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
  })
  return JSON.parse(stdout) as Loaded
}

const packagesAfter = async (work: string): Promise<readonly string[]> => (await loadedAfter(work)).packages

describe("the command loads no engine", () => {
  test.each([
    { words: ["--version"], why: "it prints its version" },
    { words: ["serve", "--help"], why: "it prints its help" },
    { words: ["serve", "--listen", "nowhere"], why: "a setting is rejected" },
    { words: ["token", "list", "--storage", "nowhere"], why: "a store is rejected" },
    { words: ["complete", "--", "tok"], why: "it completes a word", further: ["@bomb.sh/tab"] },
  ])("when $why", async ({ words, further = [] }) => {
    const { packages, ownCount } = await loadedAfter(`
      const { run } = await import("${sourceOf("engine/src/cli/program.ts")}")
      console.log = () => {}
      await run(${JSON.stringify(words)}, { out() {}, say() {}, input: async () => "", environment: {} })`)
    expect(packages).toEqual([...further, "commander", "zod"])
    // One module for each command, and those that all of them need.
    expect(ownCount).toBeLessThan(62)
  })
})

test("declared resources load zod, and no other package", async () => {
  expect(
    await packagesAfter(`
      const { workspaceResource } = await import("${sourceOf("engine/src/declared/workspaces.ts")}")
      workspaceResource.validate({ organization: "acme", name: "api" })
      const { pkiIssuerResource } = await import("${sourceOf("engine/src/declared/certificates.ts")}")
      pkiIssuerResource.validate({ mount: "pki", name: "root", kind: "root", commonName: "Root" })`),
  ).toEqual(["zod"])
})

// `lru-cache` is a single file. Of OpenTelemetry only the API is loaded, which records nothing by itself.
test("an embedded engine for workspaces only loads SQL, a cache and the metrics API", async () => {
  expect(
    await packagesAfter(`
      const { openEngine } = await import("${sourceOf("engine/src/index.ts")}")
      const engine = await openEngine("sqlite:${join(folder, "engine.db")}", { jobs: false })
      await engine.organizations.create({ name: "acme", email: "acme@example.com" })
      await engine.workspaces.create("acme", { name: "api" })
      await engine[Symbol.asyncDispose]()`),
  ).toEqual(["@opentelemetry/api", "kysely", "lru-cache"])
})

test("the OpenTelemetry exporter is loaded only when a collector is configured", async () => {
  const loaded = (environment: object) =>
    packagesAfter(`
      const { openTelemetry } = await import("${sourceOf("engine/src/cli/telemetry.ts")}")
      const { silentLog } = await import("${sourceOf("engine/src/core/runtime.ts")}")
      const telemetry = await openTelemetry({}, ${JSON.stringify(environment)}, { ...silentLog, flush() {} })
      await telemetry?.[Symbol.asyncDispose]()`)
  const telemetryPackages = (packages: readonly string[]) =>
    packages.filter((name) => name.startsWith("@opentelemetry/"))
  expect(telemetryPackages(await loaded({}))).toEqual([])
  expect(
    telemetryPackages(await loaded({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/v1/traces" })),
  ).toContain("@opentelemetry/sdk-trace")
})

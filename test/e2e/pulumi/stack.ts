// A stack of the real Pulumi engine, with a file backend and a program that runs in the test. The provider is the built one, in the process
// that Pulumi starts for dynamic resources.
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type EngineEvent, LocalWorkspace, type PulumiFn, PulumiCommand } from "@pulumi/pulumi/automation/index.js"
import type { ServedEngine } from "../../../engine/src/engine.ts"
import { openEmbedded } from "../../../engine/src/embedded.ts"
import { startServer } from "../../../engine/src/server/server.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

export type Mode = "embedded" | "remote"

export interface Ran {
  /** Operation on each resource by name: `create`, `update`, `same`, `replace` … */
  readonly operations: Readonly<Record<string, string>>
  readonly output: string
}

export interface TestStack extends AsyncDisposable {
  /** The engine that the stack's provider uses, for changes by others. */
  readonly engine: ServedEngine
  preview(program: PulumiFn): Promise<Ran>
  up(program: PulumiFn): Promise<Ran>
  refresh(): Promise<Ran>
  /** Destroys without running a program. */
  destroy(): Promise<Ran>
  /** Exports of the program, including secrets. */
  outputs(): Promise<Readonly<Record<string, unknown>>>
  /** Runs any other command of Pulumi. */
  command(args: readonly string[]): Promise<string>
  /** Returns the stored state, encrypted as on disk. */
  state(): Promise<string>
  /** Environment of the provider's process. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets variables for later runs; an empty value unsets one. */
  setEnvironment(variables: Readonly<Record<string, string>>): void
  /** URL of the server; empty without one. */
  readonly url: string
  /** Token of the provider, which no state may contain. */
  readonly token: string
  /** Removed with the stack. */
  readonly folder: string
}

/** Builds the provider, because `npm test` tests the build output. */
export async function buildProvider(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, "node_modules/.bin/tsc"), "-b", "provider"], { cwd: root })
}

interface StackOptions {
  /** Lets Pulumi read the result of each operation with three commands, as its Automation API does by default. Default: false. */
  readonly summarized?: boolean
  /** Folder of the packages that the provider's process finds; default: those of this checkout. */
  readonly packages?: string
}

export async function openStack(
  pulumi: string,
  mode: Mode,
  { summarized = false, packages = join(root, "node_modules") }: StackOptions = {},
): Promise<TestStack> {
  await using opening = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), "chancery-pulumi-"))
  opening.defer(() => rm(folder, { recursive: true, force: true }))
  for (const name of ["bin", "home", "backend", "program"]) await mkdir(join(folder, name))
  await symlink(pulumi, join(folder, "bin/pulumi"))
  const hostFile = fileURLToPath(new URL("language-host.ts", import.meta.url))
  const host = [process.execPath, hostFile].map((part) => `"${part}"`).join(" ")
  await writeFile(join(folder, "bin/pulumi-language-nodejs"), `#!/bin/sh\nexec ${host} "$@"\n`, { mode: 0o755 })
  await symlink(packages, join(folder, "program/node_modules"))

  const file = join(folder, "engine.db")
  const served = await openEmbedded(`sqlite:${file}`, { jobs: false })
  opening.use(served)
  for (const name of ["acme", "globex"]) await served.organizations.create({ name, email: `${name}@example.com` })
  const token = await tokenOf(served)
  let url = ""
  const connection: Record<string, string> = { CHANCERY_ENGINE_URL: `sqlite:${file}` }
  if (mode === "remote") {
    const server = await startServer({ engine: served })
    opening.defer(async () => void (await server.close()))
    url = server.url
    Object.assign(connection, { CHANCERY_ENGINE_URL: server.url, CHANCERY_TOKEN: token })
  }

  const scripts = dirname(createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json"))
  const stack = await LocalWorkspace.createOrSelectStack(
    { projectName: "project", stackName: "test", program: async () => undefined },
    {
      workDir: join(folder, "program"),
      pulumiHome: join(folder, "home"),
      pulumiCommand: await PulumiCommand.get({ root: folder }),
      projectSettings: { name: "project", runtime: "nodejs", backend: { url: `file://${join(folder, "backend")}` } },
      envVars: {
        ...connection,
        CHANCERY_ORGANIZATION: "acme",
        PATH: [join(folder, "bin"), scripts, dirname(process.execPath), process.env["PATH"]].join(":"),
        PULUMI_CONFIG_PASSPHRASE: "project",
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: "true",
      },
    },
  )
  const outputsOf = stack.outputs.bind(stack)
  if (!summarized) Object.assign(stack, { outputs: async () => ({}), info: async () => undefined })
  const closing = opening.move()
  return {
    token,
    folder,
    url,
    setEnvironment: (variables) => {
      Object.assign(stack.workspace.envVars, variables)
    },
    engine: served,
    preview: (program) =>
      recorded((onEvent, onOutput) => stack.preview({ program, onEvent, onOutput, color: "never" })),
    up: (program) => recorded((onEvent, onOutput) => stack.up({ program, onEvent, onOutput, color: "never" })),
    refresh: () => recorded((onEvent, onOutput) => stack.refresh({ onEvent, onOutput, color: "never" })),
    destroy: () => recorded((onEvent, onOutput) => stack.destroy({ onEvent, onOutput, color: "never" })),
    outputs: async () =>
      Object.fromEntries(Object.entries(await outputsOf()).map(([name, { value }]) => [name, value])),
    command: async (args) => {
      const env = { ...process.env, ...stack.workspace.envVars, PULUMI_HOME: join(folder, "home") }
      const whole = [...args, "--stack", "test", "--non-interactive"]
      const { stdout } = await promisify(execFile)(pulumi, whole, { cwd: join(folder, "program"), env })
      return stdout
    },
    environment: stack.workspace.envVars,
    // Read from disk, because the command would decrypt it.
    state: () => readFile(join(folder, "backend/.pulumi/stacks/project/test.json"), "utf8"),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

export async function tokenOf({ caller, tokens }: Awaited<ReturnType<typeof openEmbedded>>): Promise<string> {
  if (caller.kind !== "user") throw new Error("the engine acts as a user")
  return (await tokens.createForUser(caller.userId, { description: "project" })).secret
}

const connectingAttempts = 3

/**
 * Errors before Pulumi has done anything. On a stalled machine, Pulumi does not wait for the program's process. And if a new run gets a
 * port of an earlier run in this process, Pulumi takes that port for unreachable.
 */
const neverConnected = /connection error|No connection established/

async function recorded(
  run: (onEvent: (event: EngineEvent) => void, onOutput: (text: string) => void) => Promise<unknown>,
): Promise<Ran> {
  const operations: Record<string, string> = {}
  let output = ""
  const onEvent = ({ resourcePreEvent }: EngineEvent) => {
    const { urn, op, type } = resourcePreEvent?.metadata ?? {}
    // A replacement is reported in three steps; the first names the operation.
    if (urn === undefined || op === undefined || !type?.includes("chancery")) return
    const name = urn.split("::").at(-1) ?? urn
    if (operations[name] === undefined || op === "replace") operations[name] = op
  }
  const onOutput = (text: string) => {
    output += text
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(onEvent, onOutput)
      break
    } catch (error) {
      const begun = Object.keys(operations).length > 0 || !neverConnected.test(String(error))
      if (begun || attempt === connectingAttempts) throw error
    }
  }
  return { operations, output }
}

// A stack of the real Pulumi engine, with a file for a backend and a program that runs in the test. The provider is the built
// one, in the process that Pulumi starts for dynamic resources.
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
  /** What happened to each resource, by its name: `create`, `update`, `same`, `replace` … */
  readonly operations: Readonly<Record<string, string>>
  readonly output: string
}

export interface TestStack extends AsyncDisposable {
  /** The same engine, for what others do meanwhile. */
  readonly engine: ServedEngine
  preview(program: PulumiFn): Promise<Ran>
  up(program: PulumiFn): Promise<Ran>
  refresh(): Promise<Ran>
  /** With the program of the last `up`, which is not run. */
  destroy(): Promise<Ran>
  /** What the program exports, secrets too. */
  outputs(): Promise<Readonly<Record<string, unknown>>>
  /** Any other command of Pulumi's. */
  command(args: readonly string[]): Promise<string>
  /** The state, as it is kept. */
  state(): Promise<string>
  /** What the provider's process finds there. */
  readonly environment: Readonly<Record<string, string>>
  /** For what runs from now on; empty is unset. */
  setEnvironment(variables: Readonly<Record<string, string>>): void
  /** Empty without a server. */
  readonly url: string
  /** What the provider has it in; no state may. */
  readonly token: string
  /** Gone with the stack. */
  readonly folder: string
}

/** What `npm test` runs is what is built. */
export async function buildProvider(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, "node_modules/.bin/tsc"), "-b", "provider"], { cwd: root })
}

interface StackOptions {
  /** Whether Pulumi is asked after each operation what has come of it, three times, as programs that use it as we do have it. */
  readonly summarized?: boolean
  /** Whose packages the provider's process finds, by their folder; those of this checkout when left out. */
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
    { projectName: "stories", stackName: "test", program: async () => undefined },
    {
      workDir: join(folder, "program"),
      pulumiHome: join(folder, "home"),
      pulumiCommand: await PulumiCommand.get({ root: folder }),
      projectSettings: { name: "stories", runtime: "nodejs", backend: { url: `file://${join(folder, "backend")}` } },
      envVars: {
        ...connection,
        CHANCERY_ORGANIZATION: "acme",
        PATH: [join(folder, "bin"), scripts, dirname(process.execPath), process.env["PATH"]].join(":"),
        PULUMI_CONFIG_PASSPHRASE: "stories",
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
    // As it stands on disk: the command would decrypt it.
    state: () => readFile(join(folder, "backend/.pulumi/stacks/stories/test.json"), "utf8"),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

export async function tokenOf({ caller, tokens }: Awaited<ReturnType<typeof openEmbedded>>): Promise<string> {
  if (caller.kind !== "user") throw new Error("the engine acts as a user")
  return (await tokens.createForUser(caller.userId, { description: "stories" })).secret
}

const connectingAttempts = 3

/**
 * How Pulumi fails before it has done anything: on a machine that stands still it does not wait for the program's process; and a
 * port that an earlier run of this process was told of, and that a new run has got again, is taken for one that cannot be reached.
 */
const neverConnected = /connection error|No connection established/

async function recorded(
  run: (onEvent: (event: EngineEvent) => void, onOutput: (text: string) => void) => Promise<unknown>,
): Promise<Ran> {
  const operations: Record<string, string> = {}
  let output = ""
  const onEvent = ({ resourcePreEvent }: EngineEvent) => {
    const { urn, op, type } = resourcePreEvent?.metadata ?? {}
    // A replacement is told in three steps; the first says what it is.
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

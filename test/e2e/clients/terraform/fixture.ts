// Fixture for Terraform and OpenTofu: a server in its own process, a proxy that records requests, and folders with configurations. The
// configurations use only the built-in provider, so nothing is downloaded.
import { type ChildProcess, spawn } from "node:child_process"
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { expect } from "vitest"
import { openRemote } from "../../../../engine/src/client/remote.ts"
import { systemRuntime } from "../../../../engine/src/core/runtime.ts"
import type { Engine } from "../../../../engine/src/engine.ts"
import { type Served, serve, temporaryFolder } from "../../../cli/chancery.ts"
import { type TerraformProgram, terraformPrograms } from "../../../toolchain/terraform.ts"
import { openRecordingProxy, type RecordingProxy } from "./recording-proxy.ts"

const programs = await terraformPrograms()

export const noTool = programs.length === 0

/** Every suite runs with each tool. Without any, a placeholder keeps the skipped tests listed. */
export const tools: readonly TerraformProgram[] = noTool ? [{ program: "", kind: "terraform", version: "" }] : programs

/** Does not resolve: the tools' own settings name the addresses of its services, so that plain HTTP works. */
export const hostname = "chancery.test"
export const organization = "default"

export interface Outcome {
  readonly code: number | null
  /** Standard output and standard error. */
  readonly text: string
}

export interface RunningTool {
  readonly child: ChildProcess
  readonly ended: Promise<Outcome>
  text(): string
}

export interface RunOptions {
  /** Answers to the tool's questions, in order. Without any, the tool does not prompt. */
  readonly answers?: readonly Answer[]
  /** Standard input, available from the start. */
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

export interface Answer {
  /** Part of the question. */
  readonly to: string
  readonly say: string
}

/** A configuration in its own folder, with a tool that runs there. */
export interface Project {
  readonly folder: string
  /** Replaces the configuration. */
  write(configuration: string): Promise<void>
  start(args: string, options?: RunOptions): RunningTool
  run(args: string, options?: RunOptions): Promise<Outcome>
  /** Returns the output; throws unless the exit code is 0. */
  succeeds(args: string, options?: RunOptions): Promise<string>
  /** Returns the output; throws unless the exit code is 1, as for an error. */
  fails(args: string, options?: RunOptions): Promise<string>
  /** Applies, then checks that a plan finds no changes. */
  applies(args?: string, options?: RunOptions): Promise<string>
  /** Throws unless a plan finds no changes. */
  isSettled(args?: string, options?: RunOptions): Promise<void>
}

export interface TerraformFixture extends AsyncDisposable {
  readonly folder: string
  /** Acts as the site administrator. */
  readonly engine: Engine
  readonly rootToken: string
  readonly proxy: RecordingProxy
  /** Makes a project that uses the token; default: the root token. */
  project(
    tool: TerraformProgram,
    name: string,
    configuration: string,
    options?: { readonly token?: string },
  ): Promise<Project>
  /** Kills the server immediately, with SIGKILL. */
  killServer(): Promise<void>
  restartServer(): Promise<void>
}

export interface FixtureOptions {
  /** Tool of an agent that executes the runs of the organization. Default: no agent, and workspaces execute locally. */
  readonly agent?: TerraformProgram
}

export async function openTerraformFixture({ agent }: FixtureOptions = {}): Promise<TerraformFixture> {
  await using opening = new AsyncDisposableStack()
  const folder = opening.use(await temporaryFolder()).path
  const path = agent && `${await programFolder(agent, join(folder, "bin"))}${delimiter}${process.env.PATH ?? ""}`
  const start = (): Promise<Served> =>
    agent === undefined || path === undefined
      ? serve(["dev"], { folder })
      : serve(["dev", "--agent", agent.kind], { folder, environment: { PATH: path } })
  let served: Served = await start()
  opening.defer(() => served[Symbol.asyncDispose]())
  const proxy = opening.use(await openRecordingProxy(() => served.url))
  const rootToken = (await readFile(join(folder, ".chancery/root-token"), "utf8")).trim()
  const { random } = systemRuntime()
  const engineAt = (): Engine => openRemote(served.url, { token: rootToken, random })
  let engine = engineAt()
  opening.defer(() => engine[Symbol.asyncDispose]())
  // Without an agent, workspaces execute locally unless a test says otherwise.
  if (agent === undefined) await engine.organizations.update(organization, { defaultExecutionMode: "local" })
  const closing = opening.move()
  return {
    folder,
    rootToken,
    proxy,
    get engine() {
      return engine
    },
    async project({ program, kind }, name, configuration, { token = rootToken } = {}) {
      const home = join(folder, kind, name)
      await mkdir(home, { recursive: true })
      await writeFile(join(home, "settings.tfrc"), settingsWith(proxy.url, token))
      return openProject(program, join(home, "configuration"), configuration, {
        HOME: home,
        TF_CLI_CONFIG_FILE: join(home, "settings.tfrc"),
      })
    },
    async killServer() {
      await served[Symbol.asyncDispose]()
    },
    async restartServer() {
      await engine[Symbol.asyncDispose]()
      served = await start()
      engine = engineAt()
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Returns a folder in which the agent finds the tool under its usual name. */
async function programFolder({ program, kind }: TerraformProgram, folder: string): Promise<string> {
  await mkdir(folder)
  // A program without a path is on the PATH already.
  if (!isAbsolute(program)) return folder
  // A symbolic link would lead out of what a sandbox can read.
  await copyFile(program, join(folder, kind === "terraform" ? "terraform" : "tofu"))
  return folder
}

function settingsWith(url: string, token: string): string {
  const services = ["state.v2", "tfe.v2", "tfe.v2.1", "tfe.v2.2"].map((name) => `"${name}" = "${url}/api/v2/"`)
  return `host "${hostname}" {\n  services = { ${services.join(", ")} }\n}\ncredentials "${hostname}" {\n  token = "${token}"\n}\n`
}

export async function openProject(
  program: string,
  folder: string,
  configuration: string,
  environment: Readonly<Record<string, string>>,
): Promise<Project> {
  await mkdir(folder, { recursive: true })
  const write = (text: string): Promise<void> => writeFile(join(folder, "main.tf"), text)
  await write(configuration)

  const start = (
    args: string,
    { answers = [], input = "", environment: further = {} }: RunOptions = {},
  ): RunningTool => {
    const child = spawn(program, [...args.split(" "), "-no-color"], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        TF_INPUT: answers.length > 0 ? "1" : "0",
        CHECKPOINT_DISABLE: "1",
        ...environment,
        ...further,
      },
    })
    let text = ""
    let prompt = ""
    const left = [...answers]
    const onOutput = (piece: string): void => {
      text += piece
      prompt += piece
      // The tool reads all available input at once, so the answer to the next question must not be available yet.
      const [next] = left
      if (next === undefined || !prompt.includes(next.to)) return
      left.shift()
      prompt = ""
      child.stdin.write(`${next.say}\n`)
      if (left.length === 0) child.stdin.end()
    }
    child.stdout.setEncoding("utf8").on("data", onOutput)
    child.stderr.setEncoding("utf8").on("data", onOutput)
    if (answers.length === 0) child.stdin.end(input)
    // Ignores the error if the tool ends before it reads an answer.
    child.stdin.on("error", () => undefined)
    const ended = new Promise<Outcome>((resolve, reject) => {
      child.on("error", reject)
      child.on("close", (code) => resolve({ code, text }))
    })
    return { child, ended, text: () => text }
  }
  const run = (args: string, options?: RunOptions): Promise<Outcome> => start(args, options).ended
  const ends = async (args: string, expected: number, options?: RunOptions): Promise<string> => {
    const { code, text } = await run(args, options)
    expect(code, `${args}: ${text}`).toBe(expected)
    return text
  }
  const isSettled = async (args?: string, options?: RunOptions): Promise<void> => {
    await ends(joined("plan -detailed-exitcode", args), 0, options)
  }
  return {
    folder,
    write,
    start,
    run,
    succeeds: (args, options) => ends(args, 0, options),
    fails: (args, options) => ends(args, 1, options),
    isSettled,
    async applies(args, options) {
      const text = await ends(joined("apply -auto-approve", args), 0, options)
      await isSettled(args, options)
      return text
    },
  }
}

const joined = (command: string, args: string | undefined): string =>
  args === undefined ? command : `${command} ${args}`

export const cloud = (workspaces: string): string => `terraform {
  cloud {
    hostname     = "${hostname}"
    organization = "${organization}"
    workspaces {
      ${workspaces}
    }
  }
}
`

/** Returns the block of the `remote` backend, which preceded the `cloud` block. */
export const remoteBackend = (workspaces: string): string => `terraform {
  backend "remote" {
    hostname     = "${hostname}"
    organization = "${organization}"
    workspaces {
      ${workspaces}
    }
  }
}
`

/** One resource and two outputs, one of them sensitive. */
export const greeting = `variable "greeting" {
  default = "hello"
}
resource "terraform_data" "greeting" {
  input = var.greeting
}
output "greeting" {
  value = terraform_data.greeting.output
}
output "password" {
  value     = "hunter2"
  sensitive = true
}
`

import { chmod, mkdir, readFile, realpath } from "node:fs/promises"
import { join, resolve } from "node:path"
import { runAgent, runClaim } from "../../agent/agent.ts"
import { type IsolationKind, IsolationError, type Limits } from "../../agent/isolation/isolation.ts"
import { openIsolation } from "../../agent/isolation/open-isolation.ts"
import { PodError } from "../../agent/pod-executor.ts"
import type { RunExecutor } from "../../agent/run-executor.ts"
import { openLocalExecutor } from "../../agent/runs/local-executor.ts"
import { openTools, ToolError, type ToolKind } from "../../agent/tools/index.ts"
import { withoutUndefined } from "../../contracts/tfe/json-api/without-undefined.ts"
import { isEngineError } from "../../core/errors.ts"
import { systemRuntime } from "../../core/runtime.ts"
import type { RunClaims } from "../../workspaces/runs/run-claim.ts"
import { CommandError, configurationError, exitCodeOf, exitCodes } from "../exit-code.ts"
import { requirePods } from "../operator.ts"
import { podFiles, type PodAgentOptions, podArguments } from "../pod-arguments.ts"
import { makeDataFolder } from "../store.ts"
import type { Terminal } from "../terminal.ts"
import { type CallerOptions, certificatesOf, openServer, tokenFileOf } from "../with-caller-engine.ts"

export interface AgentSettings {
  readonly connection: CallerOptions
  readonly pool: string | undefined
  /** Claim whose run to execute. It executes no other run. */
  readonly claim: string | undefined
  readonly name: string
  readonly slots: number
  readonly once: boolean
  readonly data: string
  readonly passed: Readonly<Record<string, string>>
  /** Lease of a claim: an agent that is silent for longer loses the run. */
  readonly leaseMs: number
  readonly snapshotEveryMs: number
  readonly maxLogBytes: number
  readonly toolKind: ToolKind
  readonly tools: {
    readonly folder: string | undefined
    readonly mirror: string | undefined
    readonly keyFile: string | undefined
    readonly signature: "required" | "off"
  }
  readonly providerMirror: string | undefined
  readonly isolation: IsolationKind | "pod"
  readonly runAs: string | undefined
  readonly container:
    | { readonly image: string; readonly program: string | undefined; readonly network: string | undefined }
    | undefined
  readonly limits: Limits
  /** Pods of runs, for the isolation `pod`. */
  readonly pods?: PodSettings
}

export interface PodSettings {
  readonly image: string | undefined
  readonly templateFile: string | undefined
  readonly namespace: string | undefined
  readonly startTimeoutMs: number
  /** Options of the agent in a pod, as they were given. */
  readonly options: PodAgentOptions
}

const defaultUrl = "http://127.0.0.1:8420"

/** Executes runs until the process receives a stop signal. Runs at hand are finished; a second signal ends them too. */
export async function serveAgent(settings: AgentSettings, terminal: Terminal): Promise<void> {
  const { connection } = settings
  const url = connection.engineUrl ?? (terminal.environment["CHANCERY_ENGINE_URL"] || defaultUrl)
  await using engine = await openServer(url, connection, terminal.environment)
  const draining = new AbortController()
  const stop = (): void => {
    if (draining.signal.aborted) process.exit(exitCodes.failure)
    terminal.say("The agent ends after the runs at hand. A second signal ends it at once.")
    draining.abort()
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop)
  try {
    const tokenFile = tokenFileOf(connection, terminal.environment)
    const hidden = tokenFile === undefined ? [] : [tokenFile]
    const certificates = await certificatesOf(connection, terminal.environment)
    const server = { url, certificates }
    await startAgent({ ...settings, claims: engine.runClaims, hidden, server }, terminal, draining.signal)
  } catch (error) {
    throw describedError(error)
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop)
  }
}

interface StartedAgent extends Omit<AgentSettings, "connection"> {
  readonly claims: RunClaims
  /** Files that runs must not read. */
  readonly hidden: readonly string[]
  /** Server of the claims, which the agents in pods use too. */
  readonly server?: { readonly url: string; readonly certificates: string | undefined }
}

/** Prints what the agent uses and what it cannot limit, then executes runs until the signal aborts. */
export async function startAgent(settings: StartedAgent, terminal: Terminal, draining: AbortSignal): Promise<void> {
  const { claims, claim, pool, name, slots, once, leaseMs } = settings
  const print = (text: string) => terminal.out(text)
  await using opened = new AsyncDisposableStack()
  const executor = await openExecutor(settings, opened, print)
  for (const line of executor.describe()) terminal.say(line)
  if (claim !== undefined) return await executeClaim({ claims, executor, print }, claim)
  terminal.say(`The agent ${name} waits for runs.`)
  const target = pool === undefined ? { kind: "own-pool" as const } : { kind: "agent-pool" as const, id: pool }
  await runAgent({ claims, executor, target, name, slots, leaseMs, once, print }, draining)
}

/** Throws if the run belongs to another executor now, so that the process has an exit code of its own for that. */
async function executeClaim(options: Parameters<typeof runClaim>[0], claim: string): Promise<void> {
  const ended = await runClaim(options, claim).catch((error: unknown) => {
    if (isEngineError(error, "not-found")) return "lost"
    throw error
  })
  if (ended === "lost") throw new CommandError(exitCodes.busy, `This agent does not have the claim ${claim} any more.`)
}

async function openExecutor(
  settings: StartedAgent,
  opened: AsyncDisposableStack,
  print: (text: string) => void,
): Promise<RunExecutor> {
  const { name, container, runAs, providerMirror, isolation: kind } = settings
  if (kind === "pod") return opened.use(await openPods(settings, print))
  await makeDataFolder(settings.data)
  const data = await realpath(settings.data)
  const tools = opened.use(
    await openTools({ cache: data, clock: systemRuntime().clock, ...withoutUndefined(settings.tools) }),
  )
  const hidden = kind === "user" ? await letUserEnter(data) : [data]
  const isolation = opened.use(
    await openIsolation({
      kind,
      limits: settings.limits,
      agent: name.replaceAll(/[^\w.-]/g, "-"),
      hidden: [...settings.hidden.map((file) => resolve(file)), ...hidden],
      ...(runAs === undefined ? {} : { runAs }),
      ...(container === undefined ? {} : { container: { image: container.image, ...withoutUndefined(container) } }),
    }),
  )
  return opened.use(
    await openLocalExecutor({
      claims: settings.claims,
      dataFolder: data,
      tools,
      toolKind: settings.toolKind,
      isolation,
      ...(providerMirror === undefined ? {} : { providerMirror }),
      passed: settings.passed,
      leaseMs: settings.leaseMs,
      snapshotEveryMs: settings.snapshotEveryMs,
      maxLogBytes: settings.maxLogBytes,
      print,
    }),
  )
}

/**
 * Lets the user of runs enter the folders above those of its run and of its plugins, without listing them. Returns what it must not read.
 */
async function letUserEnter(data: string): Promise<readonly string[]> {
  for (const folder of ["", "runs", "cache", "cache/plugins"].map((name) => join(data, name))) {
    await mkdir(folder, { recursive: true })
    await chmod(folder, 0o711)
  }
  return [join(data, "agent.pid"), join(data, "unsaved-states")]
}

async function openPods(settings: StartedAgent, print: (text: string) => void): Promise<RunExecutor> {
  const { pods, server, claims, name, leaseMs, limits, maxLogBytes, passed } = settings
  if (pods === undefined || server === undefined) throw new PodError("the isolation pod needs the options of pods")
  const { openPodExecutor } = await requirePods()
  const { options, startTimeoutMs, ...rest } = pods
  const { certificates } = server
  const { toolsKey } = options
  const files = {
    [podFiles.certificates]: certificates,
    [podFiles.toolsKey]: toolsKey === undefined ? undefined : await readFile(toolsKey, "utf8").catch(unreadableKey),
  }
  return await openPodExecutor({
    claims,
    agent: name,
    ...withoutUndefined(rest),
    startTimeoutMs,
    args: podArguments(options, { engineUrl: server.url, hasCertificates: certificates !== undefined }),
    passed,
    files: withoutUndefined(files),
    leaseMs,
    graceMs: limits.graceMs,
    maxLogBytes,
    print,
  })
}

function unreadableKey(error: unknown): never {
  throw configurationError(`The file of --tools-key cannot be read: ${(error as Error).message}.`)
}

function describedError(error: unknown): unknown {
  if (error instanceof IsolationError || error instanceof ToolError) return configurationError(error.message)
  if (error instanceof PodError) {
    const isAway = exitCodeOf(error.cause) === exitCodes.unavailable
    return new CommandError(isAway ? exitCodes.unavailable : exitCodes.configuration, error.message, { cause: error })
  }
  if (isEngineError(error, "unauthenticated"))
    return new CommandError(exitCodes.configuration, "The server does not accept the token.", { cause: error })
  if (isEngineError(error, "not-found"))
    return new CommandError(
      exitCodes.configuration,
      "The token is not the token of an agent pool, or not of the pool that --pool names.",
      { cause: error },
    )
  return error
}

// Executes one claimed run: its plan, its apply, or both.
import { readFile, stat, writeFile } from "node:fs/promises"
import { dirname, isAbsolute } from "node:path"
import { isEngineError } from "../../core/errors.ts"
import { secondMs } from "../../core/time.ts"
import { type RunClaims, type RunClaimView, maxDocument } from "../../workspaces/runs/run-claim.ts"
import type { RunStage } from "../../workspaces/runs/run-repository.ts"
import { isFinal, type RunStatus } from "../../workspaces/runs/run-status.ts"
import type { RunStep } from "../../workspaces/runs/run.ts"
import type { Command, CommandResult, Isolation } from "../isolation/isolation.ts"
import type { Execution } from "../run-executor.ts"
import { redactPlan } from "../plans/redacted-plan.ts"
import {
  canSharePluginCache,
  cliConfiguration,
  type InstalledTool,
  ToolError,
  type ToolKind,
  type Tools,
} from "../tools/index.ts"
import { isLost, withRetries } from "./claim-retries.ts"
import { appliedCounts, plannedCounts } from "./resource-counts.ts"
import { RunFailure } from "./run-failure.ts"
import { openRunFolder, orNothing, type RunFolder } from "./run-folder.ts"
import { openRunLease, type RunLease } from "./run-lease.ts"
import { openRunLog, type RunLog } from "./run-log.ts"
import { SecretMask } from "./secret-mask.ts"
import { followState, type StateUploads } from "./state-file.ts"
import { applyArguments, initArguments, planArguments } from "./tool-arguments.ts"

export interface ExecutionOptions {
  readonly claims: RunClaims
  readonly tools: Tools
  readonly toolKind: ToolKind
  readonly isolation: Isolation
  /** Parent of the folders of runs. */
  readonly runsFolder: string
  /** Folder of provider plugins that only this slot uses. */
  readonly pluginCache: string
  readonly providerMirror?: string
  /** Variables of the agent that runs see. */
  readonly passed: Readonly<Record<string, string>>
  readonly leaseMs: number
  /** Time between two intermediate state versions. */
  readonly snapshotEveryMs: number
  readonly maxLogBytes: number
  /** Keeps a state that the server does not accept, and returns its path. */
  readonly keepState: (claim: RunClaimView, state: Uint8Array) => Promise<string>
  readonly print: (text: string) => void
}

/** Longest time until a canceled run is noticed. */
const heartbeatMs = 5 * secondMs

export async function executeRun(claim: RunClaimView, options: ExecutionOptions): Promise<Execution> {
  await using lease = openRunLease(options.claims, claim, Math.min(options.leaseMs / 3, heartbeatMs))
  const run = new RunExecution(claim, lease, options)
  return await run.execute()
}

/** Program output that is kept to be parsed. Schemas of large providers have about 100 MB. */
const maxParsedBytes = 256 * 1024 * 1024
/** End of the output of an apply, in which its summary is. */
const summaryBytes = 64 * 1024

class RunExecution {
  readonly #claim: RunClaimView
  readonly #lease: RunLease
  readonly #options: ExecutionOptions

  constructor(claim: RunClaimView, lease: RunLease, options: ExecutionOptions) {
    this.#claim = claim
    this.#lease = lease
    this.#options = options
  }

  async execute(): Promise<Execution> {
    const { claims } = this.#options
    try {
      let status: RunStatus = this.#claim.run.status
      if (status === "plan_queued") status = await this.#report({ status: "planning", hasChanges: null })
      if (status === "planning") {
        status = await this.#stage("plan", (log, folder, tool) => this.#plan(log, folder, tool))
        if (status !== "confirmed" && status !== "apply_queued") return await this.#leave(status)
      }
      if (status !== "confirmed" && status !== "apply_queued") return await this.#leave(status)
      if (status === "confirmed") status = await this.#report({ status: "apply_queued", hasChanges: null })
      return await this.#stage("apply", (log, folder, tool) => this.#apply(log, folder, tool))
    } catch (error) {
      if (isLost(error) || this.#lease.reason() === "ended") {
        const now = await orNothing(claims.get(this.#claim.id)).catch(() => undefined)
        return now !== undefined && isFinal(now.run.status) ? now.run.status : "lost"
      }
      throw error
    }
  }

  /** Leaves a run that waits for a confirmation, which can take longer than this agent lives. */
  async #leave(status: RunStatus): Promise<Execution> {
    if (!isFinal(status) && status !== "planned_and_saved")
      await withRetries(() => this.#options.claims.release(this.#claim.id), this.#options.leaseMs)
    return status
  }

  async #report(step: RunStep): Promise<RunStatus> {
    const { claims, leaseMs } = this.#options
    return (await withRetries(() => claims.report(this.#claim.id, step), leaseMs)).run.status
  }

  /** Prepares a folder and a log for a stage. Each failure ends the run, and its log says why. */
  async #stage(
    stage: RunStage,
    work: (log: RunLog, folder: RunFolder, tool: InstalledTool) => Promise<RunStep>,
  ): Promise<RunStatus> {
    const { claims, leaseMs, maxLogBytes, runsFolder, passed } = this.#options
    const logOf = (mask: SecretMask) =>
      openRunLog({ claims, claimId: this.#claim.id, stage, mask, maxBytes: maxLogBytes, retryMs: leaseMs })
    let log: RunLog | undefined
    try {
      const tool = await this.#findTool()
      await using folder = await withRetries(
        () =>
          openRunFolder({
            claims,
            claim: this.#claim,
            parent: runsFolder,
            cliConfiguration: this.#cliConfiguration(tool),
            passed,
          }),
        leaseMs,
      )
      const stageLog = logOf(new SecretMask(folder.secrets))
      log = stageLog
      const step = await work(stageLog, folder, tool)
      await stageLog.end()
      return await this.#report(step)
    } catch (error) {
      if (isLost(error) || this.#lease.reason() === "ended") {
        await log?.[Symbol.asyncDispose]()
        throw error
      }
      const ending = log ?? logOf(new SecretMask([]))
      ending.say(this.#textOf(error))
      await ending.end()
      return await this.#report({
        status: this.#lease.reason() === "cancel" ? "canceled" : "errored",
        hasChanges: null,
      })
    }
  }

  #textOf(error: unknown): string {
    if (this.#lease.reason() === "cancel") return "\nThe run was canceled.\n"
    if (error instanceof RunFailure || error instanceof ToolError) return `\n${error.message}\n`
    if (isEngineError(error)) return `\nThe agent could not get or store a part of the run: ${error.message}\n`
    this.#options.print(
      `${this.#claim.run.id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
    return "\nThe agent failed. Its own log says more.\n"
  }

  #findTool(): Promise<InstalledTool> {
    const { tools, toolKind } = this.#options
    const version = this.#claim.run.engineVersion ?? this.#claim.workspace.engineVersion
    return tools.find({ kind: toolKind, version }, this.#lease.stopped)
  }

  #cliConfiguration({ kind, version }: InstalledTool): string {
    const { providerMirror, pluginCache } = this.#options
    return cliConfiguration({
      ...(providerMirror === undefined ? {} : { providerMirror }),
      ...(canSharePluginCache(kind, version) ? { pluginCache } : {}),
    })
  }

  async #plan(log: RunLog, folder: RunFolder, tool: InstalledTool): Promise<RunStep> {
    await this.#initialize(log, folder, tool)
    const structured = this.#claim.workspace.structuredRunOutputEnabled
    const words = planArguments(this.#claim.run, folder.paths, structured)
    const { exitCode } = await this.#run(folder, tool, words, (bytes) => log.write(bytes))
    if (exitCode !== 0 && exitCode !== 2)
      throw new RunFailure(`${tool.kind} plan ended with the exit code ${exitCode}.`)
    const planSize = (await stat(folder.paths.plan)).size
    if (planSize > maxDocument)
      throw new RunFailure(`The plan has ${planSize} bytes. The server stores plans of at most ${maxDocument} bytes.`)
    const json = await this.#output(folder, tool, ["show", "-json", "-no-color", folder.paths.plan])
    if (json.length > maxDocument)
      throw new RunFailure(`The plan has ${json.length} bytes as JSON. The server stores at most ${maxDocument} bytes.`)
    const plan: unknown = JSON.parse(json.toString())
    const schemas = await this.#output(folder, tool, ["providers", "schema", "-json"])
    const redacted = Buffer.from(JSON.stringify(redactPlan(plan, JSON.parse(schemas.toString()))))
    const { claims, leaseMs } = this.#options
    const planFile = await readFile(folder.paths.plan)
    const documents = [
      ["json-output", json],
      ["json-output-redacted", redacted],
      ["plan-file", planFile],
    ] as const
    for (const [name, bytes] of documents)
      await withRetries(() => claims.saveDocument(this.#claim.id, name, bytes), leaseMs)
    return { status: "planned", hasChanges: exitCode === 2, counts: plannedCounts(plan) }
  }

  async #apply(log: RunLog, folder: RunFolder, tool: InstalledTool): Promise<RunStep> {
    const { claims, leaseMs } = this.#options
    const planFile = await withRetries(() => claims.document(this.#claim.id, "plan-file"), leaseMs)
    await writeFile(folder.paths.plan, planFile, { mode: 0o600 })
    await this.#initialize(log, folder, tool)
    // From here on, no other executor may repeat the apply.
    await this.#report({ status: "applying", hasChanges: null })
    const uploads = followState(folder.statePath, folder.stateBefore)
    let end = Buffer.alloc(0)
    const result = await this.#withSnapshots(uploads, () =>
      this.#run(
        folder,
        tool,
        applyArguments(folder.paths, this.#claim.workspace.structuredRunOutputEnabled),
        (bytes) => {
          log.write(bytes)
          end = Buffer.concat([end, bytes]).subarray(-summaryBytes)
        },
      ),
    )
    // An apply that failed or was canceled may have changed resources.
    await this.#saveFinalState(uploads, log)
    if (this.#lease.reason() === "cancel" && result.exitCode !== 0) throw new RunFailure("The apply was canceled.")
    if (result.exitCode !== 0) throw new RunFailure(`${tool.kind} apply ended with the exit code ${result.exitCode}.`)
    return { status: "applied", hasChanges: null, counts: appliedCounts(end.toString()) ?? null }
  }

  async #initialize(log: RunLog, folder: RunFolder, tool: InstalledTool): Promise<void> {
    log.say(
      `${tool.kind === "terraform" ? "Terraform" : "OpenTofu"} v${tool.version} (${tool.origin})\nInitializing plugins and modules...\n`,
    )
    const output: Uint8Array[] = []
    const { exitCode } = await this.#run(folder, tool, initArguments(folder.paths), (bytes) => void output.push(bytes))
    if (exitCode !== 0) {
      log.write(Buffer.concat(output))
      throw new RunFailure(`${tool.kind} init ended with the exit code ${exitCode}.`)
    }
    await folder.assertOwnBackend()
  }

  /** Runs the tool. It is interrupted when the run is canceled or belongs to another executor, and killed when it is canceled by force. */
  async #run(
    folder: RunFolder,
    tool: InstalledTool,
    args: readonly string[],
    onOutput: Command["onOutput"],
  ): Promise<CommandResult> {
    const { isolation, providerMirror, pluginCache } = this.#options
    const { stopped, killed } = this.#lease
    stopped.throwIfAborted()
    const running = isolation.run({
      program: tool.program,
      args,
      root: folder.root,
      cwd: folder.cwd,
      environment: folder.environment,
      readable: [
        dirname(tool.program),
        ...(providerMirror !== undefined && isAbsolute(providerMirror) ? [providerMirror] : []),
      ],
      writable: [pluginCache],
      onOutput,
    })
    const interrupt = () => running.interrupt()
    const kill = () => running.kill()
    stopped.addEventListener("abort", interrupt, { once: true })
    killed.addEventListener("abort", kill, { once: true })
    if (stopped.aborted) interrupt()
    if (killed.aborted) kill()
    try {
      const result = await running.ended
      if (result.endedBy === "timeout") throw new RunFailure(`${tool.kind} ${args[0]} was stopped at the time limit.`)
      if (result.endedBy === "memory") throw new RunFailure(`${tool.kind} ${args[0]} was stopped at the memory limit.`)
      return result
    } finally {
      stopped.removeEventListener("abort", interrupt)
      killed.removeEventListener("abort", kill)
    }
  }

  async #output(folder: RunFolder, tool: InstalledTool, args: readonly string[]): Promise<Buffer> {
    const output: Uint8Array[] = []
    let size = 0
    const { exitCode } = await this.#run(folder, tool, args, (bytes, stream) => {
      if (stream === "stderr") return
      size += bytes.length
      if (size <= maxParsedBytes) output.push(bytes)
    })
    if (exitCode !== 0) throw new RunFailure(`${tool.kind} ${args[0]} ended with the exit code ${exitCode}.`)
    if (size > maxParsedBytes) throw new RunFailure(`${tool.kind} ${args[0]} wrote more than ${maxParsedBytes} bytes.`)
    return Buffer.concat(output)
  }

  /** Uploads intermediate states while `work` runs. */
  async #withSnapshots<T>(uploads: StateUploads, work: () => Promise<T>): Promise<T> {
    const { claims, snapshotEveryMs } = this.#options
    let saving: Promise<void> = Promise.resolve()
    const save = async (): Promise<void> => {
      const input = await uploads.next(true)
      if (input === undefined) return
      await claims.createState(this.#claim.id, input)
      uploads.created()
    }
    const timer = setInterval(() => {
      // The final state follows in any case, so that a snapshot that fails is not repeated.
      saving = saving.then(save).catch(() => undefined)
    }, snapshotEveryMs)
    try {
      return await work()
    } finally {
      clearInterval(timer)
      await saving
    }
  }

  async #saveFinalState(uploads: StateUploads, log: RunLog): Promise<void> {
    const { claims, leaseMs, keepState, print } = this.#options
    const input = await uploads.next(false)
    if (input === undefined) return
    try {
      await withRetries(() => claims.createState(this.#claim.id, input), leaseMs)
      uploads.created()
    } catch (error) {
      const path = await keepState(this.#claim, input.state ?? Buffer.alloc(0))
      const { organizationName, name } = this.#claim.workspace
      print(
        `${this.#claim.run.id}: the server did not store the state of ${organizationName}/${name}, so it is kept in ${path}: ${(error as Error).message}`,
      )
      log.say("\nThe server did not store the state of this apply. The agent keeps it; its own log says where.\n")
      throw error
    }
  }
}

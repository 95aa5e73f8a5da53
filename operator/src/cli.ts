// The operator's commands for `chancery`, which imports them by this package's name. They load no Kubernetes client.
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Engine } from "@chancery/engine"
import {
  addCallerOptions,
  Command,
  CommandError,
  exitCodes,
  json,
  type StoredManifests,
  makeDataFolder,
  processLog,
  settingsOf,
  table,
  type Terminal,
  untilStopped,
  withCallerEngine,
} from "@chancery/engine/cli"
import { type FolderOptions, keepFolder, reconcileFolder, type Settled } from "./local/reconcile-folder.ts"
import { lockFolder } from "./local/folder-lock.ts"
import type { ManifestFault } from "./local/manifests.ts"
import { parseGoDuration } from "./go-duration.ts"
import { clusterCommands } from "./kubectl/cluster-commands.ts"
import { keyOf } from "./kube/kubernetes-object.ts"
import { systemRuntime } from "./runtime.ts"

export const commands = (terminal: Terminal): readonly Command[] => [
  reconcileCommand(terminal),
  operatorCommand(terminal),
]

function operatorCommand(terminal: Terminal): Command {
  const command = new Command("operator").description(
    "Show and renew what the operator manages in a Kubernetes cluster.",
  )
  for (const one of clusterCommands(terminal)) command.addCommand(one)
  return command
}

/** Default name of the ClusterConnection by which manifests reference the engine. */
const usualConnection = "default"
const usualOrganization = "default"
const usualTimeout = "2m"

interface Flags {
  readonly watch?: true
  readonly statusDir?: string
  readonly connection: string
  readonly organization: string
  readonly timeout: string
  readonly json?: true
}

function reconcileCommand(terminal: Terminal): Command {
  const command = new Command("reconcile")
    .description(
      "Reconcile workspaces and certificates with the manifests in a folder, as the operator does in a cluster.",
    )
    .argument("<folder>", "folder of manifests (.yaml, .yml, .json), such as a git working copy")
    .option("--watch", "keep running, and apply changes of the folder within a second")
    .option(
      "--status-dir <folder>",
      "folder for the objects with their status and Secrets (default: manifests in the data folder)",
    )
    .option(
      "--connection <name>",
      "name of the ClusterConnection by which manifests refer to this engine",
      usualConnection,
    )
    .option("--organization <name>", "organization of manifests that name none", usualOrganization)
    .option(
      "--timeout <duration>",
      "without --watch, maximum time until all objects are ready or stalled, such as 90s",
      usualTimeout,
    )
    .option("--json", "without --watch, print the status of all objects as JSON")
  addCallerOptions(command)
  return command.action(async (folder: string, flags: Flags) => {
    if (!existsSync(folder)) throw new CommandError(exitCodes.usage, `There is no folder ${folder}.`)
    const timeoutMs = parseGoDuration(flags.timeout)
    if (timeoutMs === undefined)
      throw new CommandError(
        exitCodes.usage,
        `--timeout cannot be "${flags.timeout}"; it must be a duration, such as 2m or 90s.`,
      )
    const settings = settingsOf(command, terminal, true)
    const log = processLog(settings.logLevel)
    await makeDataFolder(settings.data)
    const statusFolder = flags.statusDir ?? join(settings.data, "manifests")
    await using _lock = await locked(statusFolder)
    // With `--watch`, the process has no end, so its requests belong to no trace.
    const traceparent = () => (flags.watch === true ? undefined : terminal.environment["TRACEPARENT"])
    const reconcile = async (engine: Engine): Promise<void> => {
      const embedded = { name: flags.connection, engine, organization: flags.organization }
      const options = {
        folder,
        statusFolder,
        runtime: systemRuntime(log),
        embedded,
        traceparent,
        reporter: terminalReporter(terminal),
      }
      const ending = new AbortController()
      void untilStopped(log, terminal).then(() => ending.abort())
      if (flags.watch === true) return keepFolder(options, ending.signal)
      const reporter = flags.json === true ? silent : options.reporter
      const settled = await reconcileFolder(
        { ...options, reporter },
        AbortSignal.any([ending.signal, AbortSignal.timeout(timeoutMs)]),
      )
      return show(settled, terminal, flags.json === true)
    }
    await withCallerEngine(command, terminal, reconcile, traceparent)
  })
}

/** Reconciles the manifests of `chancery dev`. */
export async function keepManifests(options: StoredManifests, signal: AbortSignal): Promise<void> {
  const { folder, statusFolder, engine, organization, log, terminal } = options
  await using _lock = await locked(statusFolder)
  terminal.out(`Reconciling the manifests in ${folder}; their status is in ${statusFolder}.\n`)
  const embedded = { name: usualConnection, engine, organization }
  await keepFolder(
    { folder, statusFolder, runtime: systemRuntime(log), embedded, reporter: terminalReporter(terminal) },
    signal,
  )
}

async function locked(statusFolder: string): Promise<AsyncDisposable> {
  const lock = await lockFolder(statusFolder)
  if (lock !== undefined) return lock
  const message = `Another process uses the status folder ${statusFolder}; set another folder with --status-dir. If no such process is running, remove ${join(statusFolder, "lock")}.`
  throw new CommandError(exitCodes.busy, message)
}

const silent: FolderOptions["reporter"] = { faults() {}, recordEvent() {} }

const terminalReporter = (terminal: Terminal): FolderOptions["reporter"] => ({
  faults: (faults) =>
    terminal.say(faults.length === 0 ? "All manifests are valid." : faults.map(sentenceOf).join("\n")),
  recordEvent: (object, { reason, note }) => terminal.out(`${object.kind} ${keyOf(object)}: ${reason}. ${note}`),
})

const sentenceOf = ({ file, line, message }: ManifestFault): string => `${file}:${line}: ${message}`

function show({ objects, faults }: Settled, terminal: Terminal, asJson: boolean): void {
  if (asJson) terminal.out(json({ objects, faults }))
  else {
    const rows = objects.map(({ kind, key, is, reason, message }) => [kind, key, is, reason, message])
    terminal.out(table(["KIND", "NAME", "STATE", "REASON", "MESSAGE"], rows))
  }
  const short = objects.filter(({ is }) => is !== "ready").length
  if (short + faults.length === 0) return
  throw new CommandError(
    exitCodes.failure,
    `Reconciliation is incomplete: ${short} of ${objects.length} objects are not ready, and ${faults.length} manifests have errors.`,
  )
}

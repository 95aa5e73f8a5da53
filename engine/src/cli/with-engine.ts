import type { Command } from "commander"
import type { AuditedRequest, AuditTrail } from "../core/audit.ts"
import { isEngineError } from "../core/errors.ts"
import { newUuid } from "../core/ids.ts"
import { type Runtime, systemRuntime } from "../core/runtime.ts"
import type { ServedEngine, ServingEngine } from "../engine.ts"
import { CommandError } from "./exit-code.ts"
import { addSettingOptions, settingsOf, storeSettingNames } from "./setting-options.ts"
import { type Settings, settingNames } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

/** Adds options of commands that open the database themselves. Servers may run on the same database. */
export const addStoreOptions = (command: Command): Command =>
  addSettingOptions(command, { names: storeSettingNames, dev: true, group: "Store options:" })

/** Engine that acts as the site administrator. The audit log records its uses of keys together with the command. */
export type CommandEngine = ServingEngine & Pick<ServedEngine, "audit">

/**
 * Opens the database and records the command in the audit log as the API records a request. The record is written before anything changes,
 * with salted hashes of the arguments, and completed with the outcome. Rejects with `out-of-service` if a command that changes something
 * cannot be recorded.
 */
export async function withEngine<T>(
  command: Command,
  terminal: Terminal,
  work: (engine: CommandEngine, settings: Settings, runtime: Runtime) => Promise<T>,
): Promise<T> {
  const settings = settingsOf(command, terminal, true)
  // Loaded after the settings were checked, so that faults in them are reported quickly.
  const [{ processLog }, { assertStoreExists, openStore, makeDataFolder }] = await Promise.all([
    import("./log.ts"),
    import("./store.ts"),
  ])
  const log = processLog(settings.logLevel)
  try {
    const runtime = systemRuntime(log)
    const isReading = readingCommands.has(command.name())
    if (isReading) assertStoreExists(settings)
    await using engine = await openStore(settings, runtime, { server: false })
    if (!isReading && settings.auditLog === undefined) await makeDataFolder(settings.data)
    const requestId = newUuid(runtime.random)
    const trail = engine.audit.trail({ requestId })
    const acting = Object.assign(engine.as(engine.caller, trail, requestId), { audit: engine.audit })
    return await recorded(trail, describe(command, engine), isReading, () => work(acting, settings, runtime))
  } finally {
    log.flush()
  }
}

/** Last words of the commands that change nothing. */
const readingCommands: ReadonlySet<string> = new Set(["list", "show", "read", "events", "hash"])

function describe(command: Command, { caller }: Pick<ServedEngine, "caller">): AuditedRequest {
  const names: string[] = []
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name())
  const settingOptions: ReadonlySet<string> = new Set([...settingNames, "config", "engineUrl", "tokenFile"])
  const options = Object.entries(command.opts()).filter(([name]) => !settingOptions.has(name))
  const data = { ...Object.fromEntries(options), ...(command.args.length === 0 ? {} : { arguments: command.args }) }
  return { caller, method: "COMMAND", path: names.join(" "), data }
}

async function recorded<T>(
  trail: AuditTrail,
  request: AuditedRequest,
  isReading: boolean,
  work: () => Promise<T>,
): Promise<T> {
  if (isReading) trail.readRequest(request)
  else trail.request(request)
  let result: T
  try {
    result = await work()
  } catch (error) {
    const { statusOf } = await import("../contracts/tfe/json-api/errors.ts")
    const cause = error instanceof CommandError && error.cause !== undefined ? error.cause : error
    if (isEngineError(cause)) trail.response({ status: statusOf(cause.code), errors: [cause.message] })
    else trail.response({ status: cause instanceof CommandError ? 400 : 500 })
    throw error
  }
  trail.response({ status: 200 })
  await trail.durable()
  return result
}

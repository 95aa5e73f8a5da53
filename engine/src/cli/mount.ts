import { Command, Option } from "commander"
import { isEngineError } from "../core/errors.ts"
import { formatDuration, parseDuration } from "../core/time.ts"
import { leaseTtls, type MountConfig, type MountView } from "../pki/mounts/mount.ts"
import { CommandError, exitCodes, usageError } from "./exit-code.ts"
import { json, table } from "./report.ts"
import type { Terminal } from "./terminal.ts"
import { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"

export function mountCommand(terminal: Terminal): Command {
  return new Command("mount")
    .description("Create, list, tune and delete mounts, which contain certificate authorities.")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(tuneCommand(terminal))
    .addCommand(deleteCommand(terminal))
}

function createCommand(terminal: Terminal): Command {
  const command = addTuningOptions(new Command("create"))
    .description("Create a mount for a certificate authority.")
    .argument(
      "<path>",
      "path of the mount, such as pki or team/pki; it must not be inside another mount, or contain one",
    )
    .option("--json", "print the mount as JSON")
  addCallerOptions(command)
  return command.action((path: string, options: TuningOptions & { readonly json?: true }) =>
    withCallerEngine(command, terminal, async ({ mounts }) => {
      const created = await mounts.create({ path, ...tuningOf(options) })
      if (options.json === true) terminal.out(json(shown(created)))
      else terminal.out(`Mounted ${created.path}/ (${created.accessor}).`)
    }),
  )
}

function listCommand(terminal: Terminal): Command {
  const command = new Command("list").description("List all mounts.").option("--json", "print a JSON array")
  addCallerOptions(command)
  return command.action(({ json: asJson }: { readonly json?: true }) =>
    withCallerEngine(command, terminal, async ({ mounts }) => {
      const all = (await mounts.list()).map(shown)
      if (asJson === true) {
        terminal.out(json(all))
        return
      }
      const rows = all.map((mount) => [
        `${mount.path}/`,
        mount.accessor,
        mount.defaultLeaseTtl,
        mount.maxLeaseTtl,
        mount.description,
      ])
      terminal.out(table(["PATH", "ACCESSOR", "DEFAULT TTL", "MAXIMUM TTL", "DESCRIPTION"], rows))
    }),
  )
}

function tuneCommand(terminal: Terminal): Command {
  const command = addTuningOptions(new Command("tune"))
    .description(
      "Change settings of a mount, and print all of them as JSON. Settings without an option keep their values.",
    )
    .argument("<path>", "path of the mount, such as pki")
  addCallerOptions(command)
  return command.action((path: string, options: TuningOptions) =>
    withCallerEngine(command, terminal, async ({ mounts }) => {
      const tuned = await known(path, mounts.tune(path, tuningOf(options)))
      terminal.out(json(shown(tuned)))
    }),
  )
}

function deleteCommand(terminal: Terminal): Command {
  const command = new Command("delete")
    .description("Delete a mount with its keys, issuers, roles and records of certificates. This cannot be undone.")
    .argument("<path>", "path of the mount, such as pki")
  addCallerOptions(command)
  return command.action((path: string) =>
    withCallerEngine(command, terminal, async ({ mounts }) => {
      await known(path, mounts.delete(path))
      terminal.say(`The mount ${path} is deleted.`)
    }),
  )
}

interface TuningOptions {
  readonly description?: string
  readonly defaultLeaseTtl?: string
  readonly maxLeaseTtl?: string
  readonly allowedResponseHeaders?: string
  readonly passthroughRequestHeaders?: string
  readonly listingVisibility?: MountConfig["listingVisibility"]
}

const addTuningOptions = (command: Command): Command =>
  command
    .option("--description <text>", "description of the mount")
    .option(
      "--default-lease-ttl <duration>",
      "lifetime of certificates if neither request nor role sets one, such as 720h, or system for 768h",
    )
    .option(
      "--max-lease-ttl <duration>",
      "maximum lifetime of certificates if the role sets none, such as 8760h, or system for 768h",
    )
    .option(
      "--allowed-response-headers <names>",
      "comma-separated response headers that the mount may set; ACME needs Location,Replay-Nonce,Link",
    )
    .option("--passthrough-request-headers <names>", "comma-separated request headers that the mount may read")
    .addOption(
      new Option(
        "--listing-visibility <visibility>",
        "unauth lists the mount for requests without a token; hidden does not",
      ).choices(["hidden", "unauth"]),
    )

function tuningOf(options: TuningOptions): { readonly description?: string; readonly config: Partial<MountConfig> } {
  const { description, listingVisibility } = options
  const config: { -readonly [Name in keyof MountConfig]?: MountConfig[Name] } = {}
  if (options.defaultLeaseTtl !== undefined)
    config.defaultLeaseTtlMs = leaseTtl("--default-lease-ttl", options.defaultLeaseTtl)
  if (options.maxLeaseTtl !== undefined) config.maxLeaseTtlMs = leaseTtl("--max-lease-ttl", options.maxLeaseTtl)
  if (options.allowedResponseHeaders !== undefined)
    config.allowedResponseHeaders = namesIn(options.allowedResponseHeaders)
  if (options.passthroughRequestHeaders !== undefined)
    config.passthroughRequestHeaders = namesIn(options.passthroughRequestHeaders)
  if (listingVisibility !== undefined) config.listingVisibility = listingVisibility
  return { ...(description === undefined ? {} : { description }), config }
}

function leaseTtl(flag: string, text: string): number | null {
  if (text === "system") return null
  const durationMs = parseDuration(text)
  if (durationMs !== undefined) return durationMs
  throw usageError(`${flag} cannot be "${text}"; it must be a duration, such as 720h or 90d, or system.`)
}

async function known<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!isEngineError(error, "not-found")) throw error
    const sentence = `No mount exists at ${path}; run chancery mount list to see all.`
    throw new CommandError(exitCodes.failure, sentence, { cause: error })
  }
}

const namesIn = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/** Returns the mount with durations as text. */
function shown({ config, ...mount }: MountView) {
  const { defaultMs, maximumMs } = leaseTtls(config)
  const { defaultLeaseTtlMs: _default, maxLeaseTtlMs: _maximum, ...settings } = config
  return {
    ...mount,
    defaultLeaseTtl: formatDuration(defaultMs),
    maxLeaseTtl: formatDuration(maximumMs),
    ...settings,
  }
}

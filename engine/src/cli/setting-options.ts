// Options of commands from the table of settings, and settings from options.
import { readFileSync } from "node:fs"
import { type Command, Option } from "commander"
import { configure } from "./configuration.ts"
import { configurationError } from "./exit-code.ts"
import {
  environmentNameOf,
  flagOf,
  type Setting,
  type SettingName,
  settingNames,
  settings,
  type Settings,
} from "./settings.ts"
import type { Terminal } from "./terminal.ts"

/** Settings of commands that only open the database. */
export const storeSettingNames: readonly SettingName[] = [
  "data",
  "storage",
  "storageConnections",
  "storageConnectTimeout",
  "storageStatementTimeout",
  "storageLockTimeout",
  "storageIdleTimeout",
  "sealKeyFile",
  "sealKey",
  "auditLog",
  "auditLogCa",
  "logLevel",
]

export interface SettingOptions {
  readonly names: readonly SettingName[]
  readonly dev: boolean
  /** Heading of the options in the help. Default: among the command's own. */
  readonly group?: string
}

export function addSettingOptions(command: Command, { names, dev, group }: SettingOptions): Command {
  for (const name of names) {
    const setting: Setting = settings[name]
    if (setting.secret !== true) {
      const option = new Option(`${flagOf(name)} ${setting.placeholder}`, describe(name, dev))
      command.addOption(group === undefined ? option : option.helpGroup(group))
    }
  }
  const config = new Option(
    "--config <file>",
    "JSON file with settings (environment CHANCERY_CONFIG). Flags and environment variables take precedence.",
  )
  command.addOption(group === undefined ? config : config.helpGroup(group))
  const secrets = names.filter((name) => (settings[name] as Setting).secret === true)
  return command.addHelpText("after", ({ command: shown }) => {
    const helper = shown.createHelp()
    helper.prepareContext({})
    const items = secrets.map((name) =>
      helper.formatItem(
        environmentNameOf(name),
        environmentNameOf(name).length,
        `${settings[name].summary} It must be ${settings[name].expects}.`,
        helper,
      ),
    )
    return ["", "Only from the environment:", ...items].join("\n")
  })
}

function describe(name: SettingName, dev: boolean): string {
  const { summary, expects } = settings[name]
  const sources = `environment ${environmentNameOf(name)}, file "${name}"`
  return `${summary} It must be ${expects} (${sources}; default: ${defaultOf(name, dev)}).`
}

export function defaultOf(name: SettingName, dev: boolean): string {
  const setting: Setting = settings[name]
  return (dev ? setting.devDefault : undefined) ?? setting.default ?? setting.defaultNote ?? "none"
}

/** Reads the settings that `addSettingOptions` added. Throws a `CommandError` with all faults. */
export function settingsOf(command: Command, terminal: Terminal, dev = false): Settings {
  const options = command.opts<Record<string, string | undefined>>()
  const path = options["config"] ?? terminal.environment["CHANCERY_CONFIG"]
  const flags: Partial<Record<SettingName, string>> = {}
  for (const name of settingNames) {
    const value = options[name]
    if (value !== undefined) flags[name] = value
  }
  const file = path === undefined || path === "" ? undefined : { path, text: readConfigurationFile(path) }
  return configure({ flags, environment: terminal.environment, file, dev })
}

function readConfigurationFile(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : "cannot be read"
    throw configurationError(`The configuration file ${path} ${reason}; correct --config or CHANCERY_CONFIG.`)
  }
}

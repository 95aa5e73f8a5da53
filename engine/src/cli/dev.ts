// The command of `npm start`: a server that is ready to be tried, with an organization, a root token, and commands to type next. Its setup
// is idempotent.
import { Command, Option } from "commander"
import { developmentOrganization, defaultManifests, type DevOptions } from "./dev-defaults.ts"
import { addSettingOptions, settingsOf } from "./setting-options.ts"
import { settingNames } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

export function devCommand(terminal: Terminal): Command {
  const command = new Command("dev").description(
    `Run a development server with an organization "${developmentOrganization}", certificate authorities, HTTPS, and a root token in the data folder.`,
  )
  addSettingOptions(command, { names: settingNames, dev: true, group: "Settings:" })
  command.option(
    "--manifests <folder>",
    `folder of manifests that the server reconciles, or off (default: ${defaultManifests} if it exists); needs @chancery/operator`,
  )
  command.addOption(
    new Option(
      "--agent [tool]",
      "also run an agent that executes runs with terraform or opentofu (default: the one on the PATH)",
    ).choices(["terraform", "opentofu"]),
  )
  return command.action(async ({ manifests, agent }: DevOptions) => {
    const settings = settingsOf(command, terminal, true)
    const { serveForDevelopment } = await import("./actions/dev.ts")
    await serveForDevelopment(settings, { manifests, agent }, terminal)
  })
}

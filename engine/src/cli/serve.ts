import { Command } from "commander"
import { addSettingOptions, settingsOf } from "./setting-options.ts"
import { settingNames } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

export function serveCommand(terminal: Terminal): Command {
  const command = new Command("serve").description(
    "Run a server in production. It serves the workspace API (/api/v2), the certificate API (/v1) and ACME.",
  )
  addSettingOptions(command, { names: settingNames, dev: false, group: "Settings:" })
  return command.action(async () => {
    const settings = settingsOf(command, terminal)
    const { runServer } = await import("./run-server.ts")
    await runServer(settings, terminal)
  })
}

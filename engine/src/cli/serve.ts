import { Command } from "commander"
import { addSettingOptions, settingsOf } from "./setting-options.ts"
import { settingNames } from "./settings.ts"
import type { Terminal } from "./terminal.ts"

export function serveCommand(terminal: Terminal): Command {
  const command = new Command("serve").description("Serve the API in production.")
  addSettingOptions(command, { names: settingNames, dev: false, group: "Settings:" })
  return command.action(async () => {
    const settings = settingsOf(command, terminal)
    const { runServer } = await import("./run-server.ts")
    await runServer(settings, terminal)
  })
}

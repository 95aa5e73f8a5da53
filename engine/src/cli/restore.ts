import { Command } from "commander"
import { settingsOf } from "./setting-options.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions } from "./with-engine.ts"

interface RestoreFlags {
  readonly overwrite?: true
  readonly json?: true
}

export function restoreCommand(terminal: Terminal): Command {
  const command = new Command("restore")
    .description("Check a backup and put it in the place of the embedded store. The server must not run.")
    .argument("<file>", "the backup")
    .option("--overwrite", "replace the store that is there")
    .option("--json", "print what was restored as JSON")
  addStoreOptions(command)
  return command.action(async (backup: string, { overwrite, json: asJson }: RestoreFlags) => {
    const settings = settingsOf(command, terminal, true)
    const { restoreStore } = await import("./actions/back-up.ts")
    await restoreStore(settings, { backup, overwrite, asJson: asJson === true }, terminal)
  })
}

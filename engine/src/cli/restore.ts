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
    .description("Verify a backup and restore the embedded store from it. No server may be running on the store.")
    .argument("<file>", "path of the backup file")
    .option("--overwrite", "replace an existing store")
    .option("--json", "print the result as JSON")
  addStoreOptions(command)
  return command.action(async (backup: string, { overwrite, json: asJson }: RestoreFlags) => {
    const settings = settingsOf(command, terminal, true)
    const { restoreStore } = await import("./actions/back-up.ts")
    await restoreStore(settings, { backup, overwrite, asJson: asJson === true }, terminal)
  })
}

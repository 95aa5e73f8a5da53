import { Command } from "commander"
import { settingsOf } from "./setting-options.ts"
import type { Terminal } from "./terminal.ts"
import { addStoreOptions } from "./with-engine.ts"

interface BackupFlags {
  readonly withSealKey?: true
  readonly json?: true
}

export function backupCommand(terminal: Terminal): Command {
  const command = new Command("backup")
    .description("Copy the embedded store to one file and verify the copy. Works while servers are running.")
    .argument("<file>", "path of the backup file; it must not exist")
    .option(
      "--with-seal-key",
      "also copy the seal key file, to <file>.seal-key; store it apart, because both files together reveal all secrets",
    )
    .option("--json", "print the result as JSON")
  addStoreOptions(command)
  return command.action(async (target: string, { withSealKey, json: asJson }: BackupFlags) => {
    const settings = settingsOf(command, terminal, true)
    const { backUpStore } = await import("./actions/back-up.ts")
    await backUpStore(settings, { target, withSealKey: withSealKey === true, asJson: asJson === true }, terminal)
  })
}

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
    .description("Copy the embedded store to one file, beside a running server, and check the copy.")
    .argument("<file>", "the file to make; it must not exist")
    .option("--with-seal-key", "copy the seal key file too, to <file>.seal-key: whoever has both can read the secrets")
    .option("--json", "print what was copied as JSON")
  addStoreOptions(command)
  return command.action(async (target: string, { withSealKey, json: asJson }: BackupFlags) => {
    const settings = settingsOf(command, terminal, true)
    const { backUpStore } = await import("./actions/back-up.ts")
    await backUpStore(settings, { target, withSealKey: withSealKey === true, asJson: asJson === true }, terminal)
  })
}

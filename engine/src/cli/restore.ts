import { dirname } from "node:path"
import { Command } from "commander"
import { restore } from "../storage/backup.ts"
import { embeddedFile, refused } from "./backup.ts"
import { progressLine } from "./progress.ts"
import { json } from "./report.ts"
import { settingsOf } from "./setting-options.ts"
import { makeDataFolder } from "./store.ts"
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
    const file = embeddedFile(settingsOf(command, terminal, true))
    await makeDataFolder(dirname(file))
    const progress = progressLine(terminal, "Restored")
    const content = await restore({ backup, file, overwrite, progress: progress.show }).catch(refused)
    progress.end()
    if (asJson === true) {
      terminal.out(json({ ...content, file }))
      return
    }
    terminal.out(
      `Restored ${file} from ${backup}: ${content.bytes} bytes, checked. Put the seal key back too, if it is not there.`,
    )
  })
}

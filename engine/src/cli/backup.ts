import { Command } from "commander"
import { backUp, BackupRefused } from "../storage/backup.ts"
import { sqliteFile } from "../storage/database.ts"
import { CommandError, configurationError, exitCodes } from "./exit-code.ts"
import { progressLine } from "./progress.ts"
import { json } from "./report.ts"
import { settingsOf } from "./setting-options.ts"
import type { Settings } from "./settings.ts"
import { describeStorage, sealKeyFileOf, storageUrl } from "./store.ts"
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
    const sealKeyFile = withSealKey === true ? sealKeyFileOf(settings) : undefined
    const progress = progressLine(terminal, "Copied")
    const report = await backUp({ file: embeddedFile(settings), target, sealKeyFile, progress: progress.show }).catch(
      refused,
    )
    progress.end()
    if (asJson === true) {
      terminal.out(json(report))
      return
    }
    terminal.out(
      `Backed up ${describeStorage(storageUrl(settings))} to ${report.file}: ${report.bytes} bytes, checked.`,
    )
    if (report.sealKeyFile !== undefined) terminal.out(`The seal key is in ${report.sealKeyFile}; keep it apart.`)
  })
}

/** The file of the embedded store; other stores have tools of their own. */
export function embeddedFile(settings: Settings): string {
  const url = storageUrl(settings)
  const file = sqliteFile(url)
  if (file === undefined) {
    throw configurationError(
      `The store ${describeStorage(url)} is not a file; back up and restore a PostgreSQL database with pg_dump and pg_restore.`,
    )
  }
  return file
}

export function refused(error: unknown): never {
  if (error instanceof BackupRefused) throw new CommandError(exitCodes.failure, error.message, { cause: error })
  throw error
}

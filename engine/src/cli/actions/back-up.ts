import { dirname } from "node:path"
import { backUp, BackupRefused, restore } from "../../storage/maintenance/backup.ts"
import { sqliteFile } from "../../storage/sql/database.ts"
import { CommandError, configurationError, exitCodes } from "../exit-code.ts"
import { progressLine } from "../progress.ts"
import { json } from "../report.ts"
import type { Settings } from "../settings.ts"
import { describeStorage, makeDataFolder, sealKeyFileOf, storageUrl } from "../store.ts"
import type { Terminal } from "../terminal.ts"

export interface BackupOptions {
  readonly target: string
  readonly withSealKey: boolean
  readonly asJson: boolean
}

export async function backUpStore(
  settings: Settings,
  { target, withSealKey, asJson }: BackupOptions,
  terminal: Terminal,
): Promise<void> {
  const sealKeyFile = withSealKey ? sealKeyFileOf(settings) : undefined
  const progress = progressLine(terminal, "Copied")
  const report = await backUp({ file: embeddedFile(settings), target, sealKeyFile, progress: progress.show }).catch(
    throwCommandError,
  )
  progress.end()
  if (asJson) {
    terminal.out(json(report))
    return
  }
  terminal.out(`Backed up ${describeStorage(storageUrl(settings))} to ${report.file}: ${report.bytes} bytes, verified.`)
  if (report.sealKeyFile !== undefined)
    terminal.out(`The seal key is in ${report.sealKeyFile}; store it apart from the backup.`)
}

export interface RestoreOptions {
  readonly backup: string
  readonly overwrite: true | undefined
  readonly asJson: boolean
}

export async function restoreStore(
  settings: Settings,
  { backup, overwrite, asJson }: RestoreOptions,
  terminal: Terminal,
): Promise<void> {
  const file = embeddedFile(settings)
  await makeDataFolder(dirname(file))
  const progress = progressLine(terminal, "Restored")
  const content = await restore({ backup, file, overwrite, progress: progress.show }).catch(throwCommandError)
  progress.end()
  if (asJson) {
    terminal.out(json({ ...content, file }))
    return
  }
  terminal.out(
    `Restored ${file} from ${backup}: ${content.bytes} bytes, verified. If the seal key is missing, restore it too.`,
  )
}

/** Returns the file of the embedded database. Throws for PostgreSQL, which has its own backup tools. */
function embeddedFile(settings: Settings): string {
  const url = storageUrl(settings)
  const file = sqliteFile(url)
  if (file === undefined) {
    throw configurationError(
      `The store ${describeStorage(url)} is not a file; back up and restore a PostgreSQL database with pg_dump and pg_restore.`,
    )
  }
  return file
}

function throwCommandError(error: unknown): never {
  if (error instanceof BackupRefused) throw new CommandError(exitCodes.failure, error.message, { cause: error })
  if (!isOfFiles(error)) throw error
  const message = `${error.message}; check that the file and its folder exist and are accessible, and that the disk has free space.`
  throw new CommandError(exitCodes.failure, message, { cause: error })
}

/** System call errors name the operation and the file in their message. */
const isOfFiles = (error: unknown): error is Error => error instanceof Error && "syscall" in error && "code" in error

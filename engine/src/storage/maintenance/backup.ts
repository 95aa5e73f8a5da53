// Backup and restore of the embedded database. A backup is one self-contained SQLite file. It is made from one snapshot while a server may
// be running, and verified before it gets its final name. Secrets in it stay sealed: without the seal key they cannot be read, and if the
// key is lost they cannot be recovered.
import { closeSync, existsSync, openSync, statSync } from "node:fs"
import { copyFile, readFile, rm } from "node:fs/promises"
import { backup, DatabaseSync } from "node:sqlite"
import { moveDurably, writeDurably } from "../sqlite/durable-file.ts"
import { rejectNewer } from "../schema/migrate.ts"
import { migrations } from "../schema/migrations/index.ts"

export interface BackupContent {
  readonly bytes: number
  /** Name of the newest migration. */
  readonly schema: string
  readonly rows: Readonly<Record<string, number>>
}

export interface BackupReport extends BackupContent {
  readonly file: string
  /** Path of the copy of the seal key, if one was requested. */
  readonly sealKeyFile: string | undefined
}

export type BackupProgress = (progress: { readonly donePages: number; readonly totalPages: number }) => void

export interface BackupOptions {
  /** Path of the database, whether a server is running or not. */
  readonly file: string
  /** Path of the backup, which must not exist. */
  readonly target: string
  /** Copies this file to `TARGET.seal-key`, but never over another key. If the two are stored apart, the backup alone reveals no secret. */
  readonly sealKeyFile?: string | undefined
  readonly progress?: BackupProgress | undefined
}

export async function backUp({ file, target, sealKeyFile, progress }: BackupOptions): Promise<BackupReport> {
  if (!existsSync(file)) throw new BackupRefused(`No database exists at ${file}.`)
  if (existsSync(target)) throw new BackupRefused(`${target} already exists; choose another name or remove it.`)
  const sealKey = sealKeyFile === undefined ? undefined : await readFile(sealKeyFile)
  const sealKeyCopy = `${target}.seal-key`
  // An existing copy may be the last one of another database's key, whose secrets would be lost.
  if (sealKey !== undefined && existsSync(sealKeyCopy) && !sealKey.equals(await readFile(sealKeyCopy))) {
    throw new BackupRefused(`${sealKeyCopy} already contains another key; choose another name or move it.`)
  }
  const partial = `${target}.partial`
  try {
    const expected = await copySnapshot(file, partial, progress)
    const content = verifyBackup(partial)
    const differing = Object.keys(expected).find((table) => expected[table] !== content.rows[table])
    if (differing !== undefined) throw new BackupRefused(`The copy of the table ${differing} is not complete.`)
    await moveDurably(partial, target)
    if (sealKey !== undefined) await writeDurably(sealKeyCopy, sealKey, 0o600)
    return { ...content, file: target, sealKeyFile: sealKey === undefined ? undefined : sealKeyCopy }
  } finally {
    await removeDatabase(partial)
  }
}

export interface RestoreOptions {
  readonly backup: string
  /** Path of the database to create or replace. */
  readonly file: string
  /** Replaces an existing database, but never that of a running server. */
  readonly overwrite?: boolean | undefined
  readonly progress?: BackupProgress | undefined
}

/** Restores a backup. Throws `BackupRefused`. Does not restore the seal key: the operator puts it where the server expects it. */
export async function restore({ backup: source, file, overwrite, progress }: RestoreOptions): Promise<BackupContent> {
  if (!existsSync(source)) throw new BackupRefused(`No backup exists at ${source}.`)
  const occupied = existsSync(file) && statSync(file).size > 0
  if (occupied && overwrite !== true) {
    throw new BackupRefused(`A database already exists at ${file}; allow overwriting it, or move it.`)
  }
  if (occupied) rejectLive(file)
  const partial = `${file}.restoring`
  try {
    // Verifies the copy and not the backup: verification may write files next to it, and its medium may be read-only.
    closeSync(openSync(partial, "w", 0o600))
    await copyFile(source, partial)
    const content = verifyBackup(partial, source)
    // Checked again as late as possible, because the copy took time.
    if (occupied) rejectLive(file)
    // The log of the replaced database must not be replayed over the restored one.
    await removeLogs(file)
    await moveDurably(partial, file)
    const pages = Math.ceil(content.bytes / pageBytes)
    progress?.({ donePages: pages, totalPages: pages })
    return content
  } finally {
    await removeDatabase(partial)
  }
}

/**
 * Verifies that the file is intact and of this release or an older one. Throws `BackupRefused`, or `NewerDatabase`. `named` is the file's
 * name in errors.
 */
export function verifyBackup(file: string, named = file): BackupContent {
  const database = openBackup(file, named)
  try {
    const problems = texts(database, "pragma integrity_check").filter((text) => text !== "ok")
    if (problems.length > 0) throw new BackupRefused(`${named} is damaged: ${problems.slice(0, 3).join("; ")}`)
    if (database.prepare("pragma foreign_key_check").get() !== undefined) {
      throw new BackupRefused(`${named} is damaged: rows refer to missing rows.`)
    }
    const applied = texts(database, "select name from migrations order by position")
    rejectNewer(applied, migrations)
    return { bytes: statSync(file).size, schema: applied.at(-1) ?? "", rows: countRows(database) }
  } catch (error) {
    if (error instanceof BackupRefused || !isSqliteError(error)) throw error
    throw new BackupRefused(`${named} is not a complete Chancery database: ${error.message}`)
  } finally {
    database.close()
  }
}

export class BackupRefused extends Error {
  override readonly name = "BackupRefused"
}

const pageBytes = 4096
/** Number of pages between two progress reports: 1 MiB. */
const pagesAtOnce = 256

async function copySnapshot(file: string, partial: string, progress: BackupProgress | undefined) {
  await removeDatabase(partial)
  closeSync(openSync(partial, "w", 0o600))
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    // Holds a snapshot open: otherwise every commit of the server would restart the copy.
    source.exec("begin")
    const rows = countRows(source)
    await backup(source, partial, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) => progress?.({ donePages: totalPages - remainingPages, totalPages }),
    })
    const pages = numbers(source, "pragma page_count")
    progress?.({ donePages: pages, totalPages: pages })
    return rows
  } finally {
    source.close()
  }
}

/** Opens the database and ends WAL mode, because a backup must be a single file. */
function openBackup(file: string, named: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    database.exec("pragma journal_mode = delete")
    return database
  } catch (error) {
    database.close()
    if (!isSqliteError(error)) throw error
    throw new BackupRefused(`${named} is not a complete SQLite database: ${error.message}`)
  }
}

/** Throws if another process has the file open, in which case SQLite cannot end WAL mode. */
function rejectLive(file: string): void {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec("pragma journal_mode = delete")
  } catch (error) {
    if (isSqliteError(error) && (error.errcode & primaryCodeMask) === busyCode) {
      throw new BackupRefused(`A running server uses ${file}; stop it first.`)
    }
    // The database is damaged, which may be the reason for restoring it.
  } finally {
    database.close()
  }
}

const primaryCodeMask = 0xff
const busyCode = 5

const isSqliteError = (error: unknown): error is Error & { errcode: number } =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"

function countRows(database: DatabaseSync): Record<string, number> {
  // `integrity_check` covers the shadow tables of virtual tables.
  const tables = texts(
    database,
    `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'
      order by name`,
  )
  return Object.fromEntries(tables.map((table) => [table, numbers(database, `select count(*) from "${table}"`)]))
}

function texts(database: DatabaseSync, query: string): string[] {
  return database
    .prepare(query)
    .all()
    .map((row) => String(Object.values(row)[0]))
}

const numbers = (database: DatabaseSync, query: string): number =>
  Number(Object.values(database.prepare(query).get() ?? {})[0])

async function removeDatabase(file: string): Promise<void> {
  await rm(file, { force: true })
  await removeLogs(file)
}

async function removeLogs(file: string): Promise<void> {
  for (const suffix of ["-wal", "-shm", "-journal"]) await rm(`${file}${suffix}`, { force: true })
}

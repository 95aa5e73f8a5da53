import { existsSync } from "node:fs"
import { access, constants, mkdir, readFile, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { UnusableAuditLog } from "../audit/audit-log.ts"
import type { AuditTarget } from "../audit/audit-target.ts"
import type { Metrics } from "../core/metrics.ts"
import type { Runtime } from "../core/runtime.ts"
import { isEngineError } from "../core/errors.ts"
import { openEmbedded } from "../embedded.ts"
import type { PostgresLimits, ReadReplicaOptions } from "../storage/sql/backend.ts"
import { type Database, openDatabase, sqliteFile } from "../storage/sql/database.ts"
import type { KeyRing } from "../storage/sealing/key-sealing.ts"
import { findSealKeys, type SealKeySources } from "../storage/sealing/seal-keys.ts"
import { UnusableStore } from "../storage/sql/unusable-store.ts"
import type { ServedEngine } from "../engine.ts"
import { CommandError, configurationError, exitCodes } from "./exit-code.ts"
import type { Settings } from "./settings.ts"
import { readWeakKeys } from "./weak-keys.ts"

/**
 * Opens the engine on the configured database, and creates the data folder if the embedded database is in it. With `server`, also runs the
 * background jobs and requires a working audit log from the start.
 */
export async function openStore(
  settings: Settings,
  runtime: Runtime,
  { server, metrics }: { readonly server: boolean; readonly metrics?: Metrics },
): Promise<ServedEngine> {
  await rejectUnreadable(settings, server)
  const target = auditTargetOf(settings)
  const auditLog = target && {
    target,
    authorities: await auditAuthorities(settings),
    opensLate: !server,
    recordsOpenReads: settings.auditOpenReads === "on",
  }
  if (settings.storage === undefined || (server && auditLog !== undefined && settings.auditLog === undefined))
    await makeDataFolder(settings.data)
  const url = storageUrl(settings)
  try {
    return await openEmbedded(url, {
      runtime,
      metrics,
      edition: settings.edition,
      stateLimitBytes: settings.stateLimit,
      events: { on: settings.events === "on", retentionMs: settings.eventRetention },
      sealKeys: sealKeySourcesOf(settings),
      connections: settings.storageConnections,
      storageLimits: storageLimitsOf(settings),
      ...(server && { readReplicas: readReplicasOf(settings) }),
      jobs: server,
      outgoing: settings.outgoingRanges,
      acme: {
        requiresBinding: settings.publicAcme === "off",
        permitted: settings.acmeChallengeRanges,
        httpPort: settings.acmeHttpPort,
        tlsPort: settings.acmeTlsPort,
      },
      ...(server && { rsaKeyStock: settings.rsaKeyStock }),
      ...(server && { weakKeys: await readWeakKeys(settings.weakKeys) }),
      ...(auditLog && { auditLog }),
    })
  } catch (error) {
    throw storeError(url, error)
  }
}

/** Opens and migrates the database without an engine, and reads the keys that open its sealed values. */
export async function openDatabaseOf(
  settings: Settings,
  runtime: Runtime,
): Promise<{ readonly database: Database; readonly ring: KeyRing }> {
  await rejectUnreadable(settings, false)
  if (settings.storage === undefined) await makeDataFolder(settings.data)
  const url = storageUrl(settings)
  try {
    await using opening = new AsyncDisposableStack()
    const limits = storageLimitsOf(settings)
    const database = opening.use(
      await openDatabase(url, { ...runtime, connections: settings.storageConnections, limits }),
    )
    await database.migrate()
    const { ring } = await findSealKeys(database, sealKeySourcesOf(settings), runtime.random)
    opening.move()
    return { database, ring }
  } catch (error) {
    throw storeError(url, error)
  }
}

const storageLimitsOf = (settings: Settings): PostgresLimits => ({
  connectTimeoutMs: settings.storageConnectTimeout,
  statementTimeoutMs: settings.storageStatementTimeout,
  lockTimeoutMs: settings.storageLockTimeout,
  idleTimeoutMs: settings.storageIdleTimeout,
})

export const readReplicasOf = ({ storageReadReplica, storageReadReplicaWait }: Settings): ReadReplicaOptions => ({
  urls: storageReadReplica ?? [],
  waitMs: storageReadReplicaWait,
})

export const sealKeySourcesOf = (settings: Settings): SealKeySources => ({
  text: settings.sealKey,
  file: settings.sealKeyFile,
  defaultFile: defaultSealKeyFile(settings),
})

/** All servers of a shared database must have the same key. So a key is created automatically only for an embedded database. */
const defaultSealKeyFile = (settings: Settings): string | undefined =>
  sqliteFile(storageUrl(settings)) === undefined ? undefined : join(settings.data, "seal-key")

/** Returns undefined if the audit log is off. */
export const auditTargetOf = ({ auditLog, data }: Settings): AuditTarget | undefined =>
  auditLog === "off" ? undefined : (auditLog ?? { kind: "file", path: join(data, "audit.log") })

async function auditAuthorities({ auditLogCa }: Settings): Promise<string | undefined> {
  if (auditLogCa === undefined) return undefined
  const text = await readFile(auditLogCa, "utf8").catch(() => undefined)
  if (text?.includes("-----BEGIN CERTIFICATE-----") === true) return text
  throw configurationError(
    `The certificates for the audit log ${auditLogCa} cannot be read or are not PEM; check --audit-log-ca or CHANCERY_AUDIT_LOG_CA.`,
  )
}

/** Returns the key file for commands that change it. Throws if the key is in the environment or no file is named. */
export function sealKeyFileOf(settings: Settings): string {
  if (settings.sealKey !== undefined) {
    throw configurationError("The seal key is in CHANCERY_SEAL_KEY and not in a file; change the variable instead.")
  }
  const file = settings.sealKeyFile ?? defaultSealKeyFile(settings)
  if (file === undefined) {
    throw configurationError("No seal key file is set; set it with --seal-key-file or CHANCERY_SEAL_KEY_FILE.")
  }
  return file
}

/** Throws if the key file cannot be read. A server may wait for a missing file. */
async function rejectUnreadable({ sealKeyFile }: Settings, server: boolean): Promise<void> {
  if (sealKeyFile === undefined) return
  try {
    await access(sealKeyFile, constants.R_OK)
  } catch (error) {
    if (server && (error as NodeJS.ErrnoException).code === "ENOENT") return
    throw configurationError(
      `The seal key file ${sealKeyFile} cannot be read; check that it exists, and check --seal-key-file or CHANCERY_SEAL_KEY_FILE.`,
    )
  }
}

/**
 * Throws if a command that only reads names a missing database file, rather than creating it. For PostgreSQL, the connection will fail
 * instead.
 */
export function assertStoreExists(settings: Pick<Settings, "storage" | "data">): void {
  const url = storageUrl(settings)
  const file = sqliteFile(url)
  if (file === undefined || file === ":memory:" || existsSync(file)) return
  throw configurationError(
    `No store exists at ${describeStorage(url)}; set a store with --data or --storage, or a server with --engine-url or CHANCERY_ENGINE_URL.`,
  )
}

/** File name of the embedded database in the data folder. */
export const databaseFileName = "chancery.db"

export const storageUrl = (settings: Pick<Settings, "storage" | "data">): string =>
  settings.storage ?? `sqlite:${join(settings.data, databaseFileName)}`

/** Returns the URL without its password, for messages. */
export function describeStorage(url: string): string {
  const parsed = url.startsWith("postgres") ? URL.parse(url) : null
  if (parsed === null) return url
  parsed.password = ""
  parsed.search = ""
  return parsed.href
}

/** Creates the folder with access for its owner only: it holds the database, its seal key and, in dev, the root token. */
export async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeFolders(resolve(folder))
  } catch (error) {
    throw new CommandError(
      exitCodes.configuration,
      `The data folder ${folder} cannot be created (${(error as Error).message}); set another with --data or CHANCERY_DATA.`,
    )
  }
}

// Not `recursive`: on file systems that report ENOENT for a folder that they refuse to create, such as /proc, Node retries without end.
async function makeFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return
    if (code !== "ENOENT" || existsSync(dirname(folder))) throw error
    await makeFolders(dirname(folder))
    await mkdir(folder, { mode: 0o700 })
  }
}

/** Returns the error with a message and an exit code for a database that cannot be opened. */
export function storeError(url: string, error: unknown): unknown {
  if (error instanceof CommandError) return error
  if (error instanceof UnusableAuditLog) {
    const advice = error.isRemote ? "the receiver is running and reachable" : "its folder exists and is writable"
    return new CommandError(
      error.isRemote ? exitCodes.busy : exitCodes.configuration,
      `${error.message} Check that ${advice}, and check --audit-log or CHANCERY_AUDIT_LOG.`,
      { cause: error },
    )
  }
  if (error instanceof UnusableStore) {
    const message = `The store ${describeStorage(url)} cannot be opened. ${error.message}`
    return new CommandError(exitCodes.configuration, message, { cause: error })
  }
  if (isEngineError(error) && error.code !== "busy") return error
  // Supervisors may retry temporary failures (exit code `busy`). A permanent failure needs a person.
  if (isEngineError(error)) {
    const message = `The store ${describeStorage(url)} is not available (${reasonOf(error.cause ?? error)}); check that it is running and reachable, and check --storage or CHANCERY_STORAGE.`
    return new CommandError(exitCodes.busy, message, { cause: error })
  }
  return new CommandError(
    exitCodes.configuration,
    `The store ${describeStorage(url)} cannot be opened (${reasonOf(error)}); check that it exists, and check --storage or CHANCERY_STORAGE.`,
    { cause: error },
  )
}

export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, "")
}

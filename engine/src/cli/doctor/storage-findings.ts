import { counted } from "../../core/text.ts"
import { access, constants, stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import type { Instant } from "../../core/time.ts"
import { defaultPoolSize } from "../../storage/sql/backend.ts"
import type { ReplicaStatus } from "../../storage/replicas/read-replicas.ts"
import type { SchemaState, ServerFacts } from "../../storage/maintenance/survey.ts"
import { exitCodes } from "../exit-code.ts"
import { reasonOf } from "../store.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

const check = "storage"

export function schemaFinding({ appliedCount, missing, unknown }: SchemaState): Finding {
  if (unknown !== undefined) {
    const message = `The database was written by a newer release: it has the migration "${unknown}", which this release does not know. Servers of this release do not start.`
    return fail(check, message, "Start that release or a later one, or restore a backup.", exitCodes.configuration)
  }
  if (missing.length === 0) return ok(check, `The schema matches this release (${counted(appliedCount, "migration")}).`)
  if (appliedCount === 0) return warn(check, "The database is empty.", "Start a server to create the schema.")
  return warn(
    check,
    `The schema is ${counted(missing.length, "migration")} behind this release; the checks that depend on them were skipped.`,
    "Back up the store, then start a server of this release, which migrates the schema.",
  )
}

export function integrityFinding(broken: readonly string[]): Finding {
  if (broken.length === 0) return ok(check, "The database file is intact.")
  const message = `The database file is damaged: ${broken.join("; ")}.`
  return fail(check, message, "Stop the servers, keep the file, restore the last backup, and check the disk.")
}

const gibibyte = 2 ** 30
const leastBytes = gibibyte / 4
const comfortableBytes = 2 * gibibyte

/** Reports on the free space of the disk that holds the embedded database. */
export function spaceFinding(freeBytes: number): Finding {
  const free = `${(freeBytes / gibibyte).toFixed(1)} GiB`
  const advice =
    "Free space on the disk. A full disk stops all writes, and with the audit log also the reads that it records."
  if (freeBytes < leastBytes) return fail(check, `The disk of the store has only ${free} left.`, advice)
  if (freeBytes < comfortableBytes) return warn(check, `The disk of the store has ${free} left.`, advice)
  return ok(check, `The disk of the store has ${free} left.`)
}

/** Checks the files of an embedded database. `latest` is the newest modification time of its files. */
export async function fileStoreFindings(
  file: string,
): Promise<{ readonly findings: readonly Finding[]; readonly latest: Instant }> {
  const { bavail, bsize } = await statfs(file)
  const written = await Promise.all([file, `${file}-wal`].map((path) => stat(path).catch(() => undefined)))
  return {
    findings: [await writableFinding(file), spaceFinding(bavail * bsize)],
    latest: Math.max(...written.map((each) => each?.mtimeMs ?? 0)),
  }
}

async function writableFinding(file: string): Promise<Finding> {
  try {
    // SQLite creates its write-ahead log and shared memory files in the same folder.
    await access(file, constants.R_OK | constants.W_OK)
    await access(dirname(file), constants.R_OK | constants.W_OK | constants.X_OK)
    return ok(check, "The database file and its folder are writable.")
  } catch (error) {
    const message = `The user of this command cannot write the database ${file} or its folder (${(error as NodeJS.ErrnoException).code}).`
    const advice =
      "Run servers and this command as the owner of the data folder, and check that the disk is not mounted read-only."
    return fail(check, message, advice, exitCodes.configuration)
  }
}

/** Reports on a PostgreSQL server. `poolSize` is the maximum number of connections of each Chancery server. */
export function serverFindings(facts: ServerFacts, poolSize = defaultPoolSize): readonly Finding[] {
  const findings: Finding[] = []
  if (facts.standby || facts.readOnly) {
    const message = facts.standby
      ? "The database server is a read-only standby."
      : "The database is read-only (default_transaction_read_only)."
    findings.push(fail(check, message, "Set --storage or CHANCERY_STORAGE to the primary."))
  }
  if (!facts.mayCreate) {
    const advice = "Grant the role CREATE on the schema, or make it the owner of the database."
    findings.push(warn(check, "The role cannot create tables, so upgrades cannot change the schema.", advice))
  }
  if (!facts.hasTrigrams) {
    const advice = "Install the contrib modules of PostgreSQL, and run as an administrator: create extension pg_trgm"
    findings.push(fail(check, "The extension pg_trgm, which searches for names need, is not installed.", advice))
  }
  if (facts.unsafeSettings.length > 0) {
    const message = `The database can lose acknowledged writes: ${facts.unsafeSettings.join(", ")}.`
    findings.push(fail(check, message, "Set them to on, at least for this database."))
  }
  findings.push(connectionFinding(facts, poolSize))
  return [ok(check, `PostgreSQL ${facts.version} is available.`), ...findings]
}

export function readReplicaFindings(statuses: readonly ReplicaStatus[]): readonly Finding[] {
  return statuses.map(({ name, fault, isOther }) => {
    if (isOther) {
      const message = `The read replica ${name} is a separate database server, not a standby of the database.`
      const advice = "Set --storage-read-replica or CHANCERY_STORAGE_READ_REPLICA to a standby, or omit it."
      return fail(check, message, advice, exitCodes.configuration)
    }
    if (fault === undefined) return ok(check, `The read replica ${name} has replayed all commits.`)
    const advice =
      "The primary answers instead. Check that the replica is running and reachable, and follows the current primary."
    return warn(check, `The read replica ${name} is not used (${fault}).`, advice)
  })
}

/** Reports that the primary does not return its position, without which the state of its replicas cannot be checked. */
export const unreadReplicas = (error: unknown): Finding =>
  warn(
    check,
    `Read replicas are not used: the primary does not report its log position (${reasonOf(error)}).`,
    "Omit --storage-read-replica, or use a PostgreSQL server with standbys that replay its log.",
  )

function connectionFinding({ connectionCount, maxConnection }: ServerFacts, poolSize: number): Finding {
  const shown = `${connectionCount} of ${maxConnection} connections are in use; each server opens up to ${poolSize}.`
  const advice =
    "Raise max_connections (or the limit of the role or the database), lower --storage-connections, or use a connection pooler."
  if (maxConnection < poolSize) return fail(check, shown, advice)
  if (maxConnection - connectionCount < poolSize) return warn(check, shown, advice)
  return ok(check, shown)
}

// Classifies errors of PostgreSQL and of its connections (PostgreSQL documentation, appendix A). The table is complete: any other error is
// a bug or a database fault, and is not retried.
import { DatabaseError } from "pg"
import { OutdatedSnapshot } from "../sql/query-runner.ts"

export type PostgresFault =
  /** Nothing was changed, and an immediate retry may succeed. */
  | "run-again"
  /** A statement was prepared before the schema changed. A retry on a new connection succeeds. */
  | "stale-statement"
  /** The server or the network path to it is lost. Every connection made so far may be dead. */
  | "server-lost"
  /** PostgreSQL ended this one connection because of a timeout. */
  | "connection-ended"
  /** Another session holds a lock and may keep it. */
  | "locked"
  /** The disk is full: writes fail, reads succeed. */
  | "full"
  /** The server is up but reached a limit or is out of memory. */
  | "overloaded"
  | "other"

export function faultOf(error: unknown): PostgresFault {
  if (error instanceof OutdatedSnapshot) return "run-again"
  if (error instanceof DatabaseError) return faultOfState(error)
  if (!(error instanceof Error)) return "other"
  if ("code" in error) return /^(E[A-Z]+|ERR_(STREAM|SSL|TLS)_\w+)$/.test(String(error.code)) ? "server-lost" : "other"
  return /^(Connection terminated|Query read timeout|timeout expired)/.test(error.message) || isBroken(error)
    ? "server-lost"
    : "other"
}

/** Returns true if the connection broke earlier, while it was idle. */
export const isBroken = (error: unknown): boolean => error instanceof Error && error.message.includes("not queryable")

/** Keys are SQLSTATE codes, or their classes (the first two characters). */
const faults: Readonly<Record<string, PostgresFault>> = {
  "40001": "run-again", // serialization_failure
  "40P01": "run-again", // deadlock_detected
  "08": "server-lost", // connection exception
  "40003": "server-lost", // statement_completion_unknown
  "57P01": "server-lost", // admin_shutdown
  "57P02": "server-lost", // crash_shutdown
  "57P03": "server-lost", // cannot_connect_now
  "57P05": "connection-ended", // idle_session_timeout
  "25P03": "connection-ended", // idle_in_transaction_session_timeout
  "25P04": "connection-ended", // transaction_timeout
  "55P03": "locked", // lock_not_available, after lock_timeout
  "57014": "overloaded", // query_canceled, after statement_timeout
  "53100": "full", // disk_full
  "53": "overloaded", // insufficient resources: 53200 out_of_memory, 53300 too_many_connections
  "58000": "overloaded", // system_error
  "58030": "overloaded", // io_error
}

function faultOfState({ code = "", routine }: DatabaseError): PostgresFault {
  // "cached plan must not change result type" has no SQLSTATE of its own.
  if (code === featureNotSupported && routine === "RevalidateCachedQuery") return "stale-statement"
  // A row was on its way into the default partition while a partition for it was created. A retry finds the new partition. This has no
  // SQLSTATE of its own either.
  if (code === checkViolation && routine === "ExecPartitionCheckEmitError") return "run-again"
  return faults[code] ?? faults[code.slice(0, 2)] ?? "other"
}

const checkViolation = "23514"
const featureNotSupported = "0A000"
const readOnlyTransaction = "25006"

/**
 * Returns true if a write failed because the server takes no writes: after a failover it is a standby, or its operator made it read-only.
 */
export function isReadOnly(error: unknown, { beginning }: { readonly beginning: boolean }): boolean {
  const state = sqlState(error)
  // A standby rejects `begin` of a serializable transaction.
  return state === readOnlyTransaction || (beginning && state === featureNotSupported)
}

/** Returns true for permanent refusals: wrong password, unknown database, missing permission. */
export const isPermanentError = (error: unknown): boolean => /^(28|3D|42)/.test(sqlState(error))

/**
 * Returns true if a failed `commit` certainly committed nothing. An error of the statement rolls it back. If the session or the server
 * ended, or no answer came, the commit may have happened first. Servers may translate `severity`; other values count as uncertain.
 */
export const isCertainlyRolledBack = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (faultOf(error) === "run-again" || sqlState(error).startsWith("23") || (error.severity === "ERROR" && !isLost(error)))

const isLost = (error: unknown): boolean => faultOf(error) === "server-lost"

const sqlState = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? "") : "")

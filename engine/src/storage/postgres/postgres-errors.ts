// What an error of PostgreSQL, or of the connection to it, means for the work that met it (PostgreSQL documentation,
// appendix A). The table is the whole list: what is not in it is a fault of ours or of the database, and nothing that passes.
import { DatabaseError } from "pg"
import { OutdatedSnapshot } from "../sql/query-runner.ts"

export type PostgresFault =
  /** Nothing was changed, and the same work may well succeed at once. */
  | "run-again"
  /** A statement was prepared before the schema changed: the same work succeeds on a new connection. */
  | "stale-statement"
  /** The server, or the way to it, is gone: every connection made so far may be as dead as this one. */
  | "server-lost"
  /** This one connection was ended, by a limit that it ran into. */
  | "connection-ended"
  /** Somebody holds a lock, and goes on holding it. */
  | "locked"
  /** Its disk is full: nothing can be written, and reads go on. */
  | "full"
  /** The server lives and cannot do it now: a limit, too little memory. */
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

/** The connection has failed before, while nothing was asked of it. */
export const isBroken = (error: unknown): boolean => error instanceof Error && error.message.includes("not queryable")

/** By state, or by its class, which are its first two characters. */
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
  // "cached plan must not change result type" has no state of its own.
  if (code === featureNotSupported && routine === "RevalidateCachedQuery") return "stale-statement"
  // Nor has a row that was on its way into the default partition while one was made for it: another time it finds that.
  if (code === checkViolation && routine === "ExecPartitionCheckEmitError") return "run-again"
  return faults[code] ?? faults[code.slice(0, 2)] ?? "other"
}

const checkViolation = "23514"
const featureNotSupported = "0A000"
const readOnlyTransaction = "25006"

/** Of a work that writes: the server takes no writes. A failover has made it a standby, or its operator has closed it. */
export function isReadOnly(error: unknown, { beginning }: { readonly beginning: boolean }): boolean {
  const state = sqlState(error)
  // A standby does not even begin a serializable transaction.
  return state === readOnlyTransaction || (beginning && state === featureNotSupported)
}

/** The server said no for good: wrong password, no such database, no permission. */
export const isRefusal = (error: unknown): boolean => /^(28|3D|42)/.test(sqlState(error))

/**
 * Of an answer to `commit`: whether it is certain that nothing was committed. An error of the statement rolled it back; when the
 * session or the server ended, or no answer came, it may have been committed first. Servers translate the severity.
 */
export const isCertainlyRolledBack = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (faultOf(error) === "run-again" || sqlState(error).startsWith("23") || (error.severity === "ERROR" && !isLost(error)))

const isLost = (error: unknown): boolean => faultOf(error) === "server-lost"

const sqlState = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? "") : "")

// One error type with closed codes. Each wire format has one table from code to status. No other code knows statuses.

export type EngineErrorCode =
  | "bad-request" // unreadable request: query, paging, malformed document
  | "unauthenticated" // no valid token
  | "forbidden" // the one named exception to 404: force delete
  | "not-found" // missing, or the caller may not see it or do it
  | "conflict" // the current state of the resource does not allow the action
  | "gone" // the resource existed but was removed; `facts` describe it
  | "precondition-failed"
  | "too-large"
  | "unsupported-media-type"
  | "invalid" // attributes that break a validation rule; one fault per attribute
  | "unprocessable" // a business rule rejects a well-formed request
  | "rate-limited"
  | "pending" // unlock while the newest state version is not finalized; clients retry
  | "busy" // the database could not serialize the change in time; clients retry
  | "out-of-service" // the engine cannot serve: it is sealed, or its audit log cannot be written
  | "unavailable" // no usable answer: unreachable, connection lost or unreadable; a change may have been made
  | "internal"

/** Path of a member in domain terms: `["vcsRepo", "identifier"]`, `["tagBindings", 0, "key"]`. The codec converts it to a JSON pointer. */
export type FieldPath = readonly (string | number)[]

/** One broken rule. At most one of `field` (domain), `pointer`, `parameter` and `header` (wire) locates it. */
export interface Fault {
  readonly detail: string
  readonly field?: FieldPath
  readonly pointer?: string
  readonly parameter?: string
  readonly header?: string
}

/** Details of an error for programs, by domain term. A value is a string, null, or a reference to a resource by type and id. */
export type ErrorFacts = Readonly<
  Record<string, string | null | { readonly type: string; readonly id: string; readonly name?: string }>
>

/** Why a request was not sent: no connection, or a server certificate that is not trusted. */
export type NotSent = "unreachable" | "untrusted-certificate"

export interface EngineErrorOptions {
  readonly faults?: readonly Fault[]
  readonly facts?: ErrorFacts
  readonly subject?: string
  readonly retryAfterMs?: number
  readonly notSent?: NotSent
  readonly cause?: unknown
}

export class EngineError extends Error {
  readonly code: EngineErrorCode
  readonly faults: readonly Fault[]
  readonly facts: ErrorFacts | undefined
  readonly subject: string | undefined
  readonly retryAfterMs: number | undefined
  /** Set if the request was not sent, so that nothing was changed. */
  readonly notSent: NotSent | undefined

  constructor(code: EngineErrorCode, detail: string, options: EngineErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "EngineError"
    this.code = code
    this.faults = options.faults ?? []
    this.facts = options.facts
    this.subject = options.subject
    this.retryAfterMs = options.retryAfterMs
    this.notSent = options.notSent
  }
}

export const badRequest = (detail: string, faults: readonly Fault[] = []) =>
  new EngineError("bad-request", detail, { faults })
export const unauthenticated = () => new EngineError("unauthenticated", "A valid API token is required.")
export const forbidden = (detail: string) => new EngineError("forbidden", detail)
/** Vague on purpose: missing and forbidden resources have the same answer (docs/compatibility.md, "Error documents"). */
export const notFound = (subject?: string) =>
  new EngineError("not-found", notFoundDetail, subject === undefined ? {} : { subject })
/** Detail of every `notFound` error. It reveals nothing about the subject. */
export const notFoundDetail = "The resource does not exist, or you are not authorized to perform this action."
export const conflict = (detail: string, options: EngineErrorOptions = {}) =>
  new EngineError("conflict", detail, options)
export const unprocessable = (detail: string, faults: readonly Fault[] = []) =>
  new EngineError("unprocessable", detail, { faults })
export const pending = (detail: string, retryAfterMs = 1_000) => new EngineError("pending", detail, { retryAfterMs })
export const busy = (detail: string, cause?: unknown) => new EngineError("busy", detail, { retryAfterMs: 1_000, cause })
export const outOfService = (detail: string, cause?: unknown) => new EngineError("out-of-service", detail, { cause })
export const unavailable = (detail: string, cause?: unknown, notSent?: NotSent) =>
  new EngineError("unavailable", detail, { cause, ...(notSent === undefined ? {} : { notSent }) })
/** The database is unavailable. The storage has logged this itself, so callers must not log it again at a higher level (`logFailure`). */
class StoreAway extends EngineError {}

/** Returns the error for a database that is unreachable or temporarily unusable. Nothing was changed. */
export const storeAway = (detail: string, cause: unknown) =>
  new StoreAway("busy", detail, { retryAfterMs: 1_000, cause })

/** A full disk is rarely freed within a second. */
const fullRetryAfterMs = 10_000

class StoreFull extends StoreAway {}

/** Returns the error for a database that rejects writes because its disk is full. Nothing was changed; reads still work. */
export const storeFull = (cause: unknown) =>
  new StoreFull("busy", "The disk of the database is full; free space on it or enlarge it.", {
    retryAfterMs: fullRetryAfterMs,
    cause,
  })

export const isStoreFull = (error: unknown): error is EngineError => error instanceof StoreFull

/** Returns the error for a connection that was lost during a commit. The outcome of the commit is unknown. */
export const undecided = (cause: unknown) =>
  new StoreAway(
    "unavailable",
    "The connection to the database was lost during a commit; the change may or may not have been made. Check before you retry.",
    { retryAfterMs: 1_000, cause },
  )

/** Returns one error with all faults of a document. */
export const invalid = (faults: readonly Fault[]) =>
  new EngineError("invalid", faults.map((fault) => fault.detail).join("; "), { faults })

export function rejectFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults)
}

/** Returns true if the error or one of its causes is an unavailable database. */
export function isStoreAway(error: unknown): boolean {
  let one = error
  for (let depth = 0; depth < maxCauses && one instanceof Error; depth += 1) {
    if (one instanceof StoreAway) return true
    one = one.cause
  }
  return false
}

const maxCauses = 8

export const isEngineError = (error: unknown, code?: EngineErrorCode): error is EngineError =>
  error instanceof EngineError && (code === undefined || error.code === code)

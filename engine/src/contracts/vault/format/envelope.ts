// Envelope of all JSON answers (docs/compatibility.md, "Answers of the certificate API").
import type { Dialect } from "./dialect.ts"
import { type Document, isDocument, unreadable } from "./parameters.ts"

export interface Lease {
  readonly id: string
  readonly durationSeconds: number
  readonly renewable?: boolean
}

export interface Answer {
  readonly data: Document | null
  /** Sentences; they never change the status. */
  readonly warnings?: readonly string[] | undefined
  readonly lease?: Lease | undefined
  /** Token that a login or its renewal returns. */
  readonly auth?: Document | undefined
  /** The members of `data` are repeated at the top level, where Vault clients read them as well. */
  readonly repeated?: boolean | undefined
  /** Type of the mount; absent from answers of system endpoints. */
  readonly mountType?: string | undefined
}

export function encodeEnvelope(answer: Answer, requestId: string, dialect: Dialect): Document {
  const { data, warnings = [], lease, auth, mountType } = answer
  return {
    ...(answer.repeated === true ? data : {}),
    request_id: requestId,
    lease_id: lease?.id ?? "",
    renewable: lease?.renewable ?? false,
    lease_duration: lease?.durationSeconds ?? 0,
    data,
    wrap_info: null,
    warnings: encodeWarnings(warnings, dialect),
    auth: auth ?? null,
    ...(mountType === undefined ? {} : { mount_type: mountType }),
  }
}

/** Encodes one string in the native dialect; a list or null for Vault clients. */
function encodeWarnings(warnings: readonly string[], dialect: Dialect): unknown {
  if (dialect === "native") return warnings.map((warning) => warning.replaceAll("\n", " ")).join("\n")
  return warnings.length === 0 ? null : warnings
}

export interface DecodedEnvelope {
  readonly data: unknown
  readonly warnings: readonly string[]
  readonly lease: Lease | undefined
}

/** Reads the native dialect, which the remote engine requests. */
export function decodeEnvelope(document: unknown): DecodedEnvelope {
  if (!isDocument(document)) throw unreadable("it is not an envelope")
  const { warnings = "", lease_id: id = "", lease_duration: seconds = 0 } = document
  if (typeof warnings !== "string") throw unreadable('"warnings" must be a string')
  if (typeof id !== "string" || typeof seconds !== "number")
    throw unreadable('"lease_id" or "lease_duration" is invalid')
  return {
    data: document["data"],
    warnings: warnings === "" ? [] : warnings.split("\n"),
    lease:
      id === "" && seconds === 0
        ? undefined
        : { id, durationSeconds: seconds, renewable: document["renewable"] === true },
  }
}

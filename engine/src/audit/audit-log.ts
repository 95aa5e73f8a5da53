// Entries of the audit log: one JSON object per line, of three types that share a request id. Text from requests is written as a salted
// hash, so that the log discloses no secret and can still be searched for a known value.
import type { Audit, AuditedResponse, AuditedRequest, AuditOrigin, AuditTrail, KeyUse } from "../core/audit.ts"
import type { Caller } from "../core/caller.ts"
import { outOfService } from "../core/errors.ts"
import type { Log, Runtime } from "../core/runtime.ts"
import { type Clock, formatInstant, type Instant, secondMs } from "../core/time.ts"
import type { Timers } from "../core/timers.ts"
import { AuditFile, type FileCalls } from "./audit-file.ts"
import type { AuditSink } from "./audit-sink.ts"
import { type AuditTarget, formatAuditTarget } from "./audit-target.ts"
import { hashedData, hashPrefix } from "./hashed-data.ts"
import type { SaltedHash } from "./salted-hash.ts"
import { SyslogSink } from "./syslog-sink.ts"

export interface AuditLog extends Audit {
  /** Opens the log before its first entry, to find errors early. Throws `UnusableAuditLog` if that fails. */
  open(): Promise<void>
  close(): Promise<void>
}

export interface AuditLogOptions {
  readonly target: AuditTarget
  /** Certificates to trust for a syslog receiver instead of Node's default ones, in PEM. */
  readonly authorities?: string | undefined
  readonly hash: SaltedHash
  readonly runtime: Pick<Runtime, "clock" | "log">
  readonly timers: Timers
  readonly recordsOpenReads?: boolean
  readonly calls?: FileCalls
}

/** Creates an audit log. It is opened with its first entry, if not before. */
export function auditLog(options: AuditLogOptions): AuditLog {
  const { target, hash, runtime, recordsOpenReads = false } = options
  const { clock } = runtime
  const file = sinkOf(options)
  return {
    recordsOpenReads,
    trail: (origin) => new Trail(file, hash, clock, origin),
    hash: (text) => hashPrefix + hash(text),
    async open() {
      try {
        await file.open()
      } catch (error) {
        throw new UnusableAuditLog(target, error)
      }
    },
    reopen: () => file.leave(),
    close: () => file.close(),
  }
}

function sinkOf({ target, authorities, runtime: { clock, log }, timers, calls }: AuditLogOptions): AuditSink {
  const onFailure = loggedNowAndThen(clock, log, formatAuditTarget(target))
  if (target.kind === "syslog") return new SyslogSink({ address: target, authorities, clock, timers, onFailure })
  const path = target.kind === "file" ? target.path : undefined
  return new AuditFile({ path, clock, timers, onFailure, ...(calls === undefined ? {} : { calls }) })
}

export class UnusableAuditLog extends Error {
  /** True if the log is a syslog receiver, which may become available later. */
  readonly isRemote: boolean

  constructor(target: AuditTarget, cause: unknown) {
    super(
      `The audit log ${formatAuditTarget(target)} cannot be opened (${cause instanceof Error ? cause.message : String(cause)}).`,
      {
        cause,
      },
    )
    this.name = "UnusableAuditLog"
    this.isRemote = target.kind === "syslog"
  }
}

class Trail implements AuditTrail {
  readonly #file: AuditSink
  readonly #hash: SaltedHash
  readonly #clock: Clock
  readonly #origin: AuditOrigin
  /** Failure count of the sink before the first entry that must be on disk; undefined before that entry. */
  #failureCount: number | undefined
  #requested = false
  /** Sync that the last `flush` started. */
  #flushed: Promise<void> | undefined
  /** True if a line was appended after the last `flush`. */
  #appended = false

  constructor(file: AuditSink, hash: SaltedHash, clock: Clock, origin: AuditOrigin) {
    this.#file = file
    this.#hash = hash
    this.#clock = clock
    this.#origin = origin
  }

  request(request: AuditedRequest): void {
    this.#requested = true
    this.#write(this.#line("request", this.#described(request)))
  }

  async requestWritten(request: AuditedRequest): Promise<void> {
    this.#requested = true
    await this.#written(this.#line("request", this.#described(request)))
  }

  signingRequest(request: AuditedRequest): void {
    this.#requested = true
    this.#failureCount ??= this.#file.failureCount
    this.#file.append(this.#line("request", this.#described(request)))
  }

  readRequest(request: AuditedRequest): void {
    this.#requested = true
    this.#file.append(this.#line("request", this.#described(request)))
  }

  // A property and not a method, because it is passed on without its object.
  readonly keyUse = async ({
    mount,
    keyId,
    issuerId,
    purpose,
    serialNumber,
    acmeOrder,
    digest,
  }: KeyUse): Promise<void> => {
    const line = this.#line("key-use", {
      mount,
      key_id: keyId,
      issuer_id: issuerId,
      purpose,
      serial_number: serialNumber,
      acme_order: acmeOrder?.id,
      acme_account: acmeOrder?.accountId,
      to_be_signed_sha256: digest,
    })
    await this.#written(line)
    this.flush()
  }

  flush(): void {
    this.#flushed = this.#file.synced()
    this.#appended = false
    // `durable` reports the error.
    this.#flushed.catch(() => {})
  }

  response({ status, errors }: AuditedResponse): void {
    if (!this.#requested) return
    this.#appended = true
    this.#file.append(this.#line("response", { status, errors: errors?.map(shortened) }))
  }

  async durable(): Promise<void> {
    if (this.#failureCount === undefined) return
    try {
      // The response entry is in the file but not necessarily on disk, so only a power failure in the next moment can lose it. A second
      // sync would double the time that each answer waits.
      if (this.#flushed === undefined) await this.#file.synced()
      else await Promise.all([this.#flushed, this.#appended ? this.#file.written("") : undefined])
    } catch (error) {
      throw unwritable(error)
    }
    if (this.#file.failureCount !== this.#failureCount) throw unwritable()
  }

  async #written(line: string): Promise<void> {
    this.#failureCount ??= this.#file.failureCount
    try {
      await this.#file.written(line)
    } catch (error) {
      throw unwritable(error)
    }
    // The failure of another write may have lost this line, or the request that it belongs to.
    if (this.#file.failureCount !== this.#failureCount) throw unwritable()
  }

  #write(line: string): void {
    this.#failureCount ??= this.#file.failureCount
    try {
      this.#file.write(line)
    } catch (error) {
      throw unwritable(error)
    }
  }

  #line(type: "request" | "key-use" | "response", fields: object): string {
    const { requestId, job } = this.#origin
    return `${JSON.stringify({ time: timeOf(this.#clock.now()), type, request_id: requestId, job, ...fields })}\n`
  }

  #described(request: AuditedRequest): object {
    const { method, path, operation, mount, remoteAddress, clientCertificateSha256, caller, secret, data, plainKeys } =
      request
    return {
      method,
      path: shortened(path),
      operation,
      mount,
      remote_address: remoteAddress,
      client_certificate_sha256: clientCertificateSha256,
      caller: describedCaller(caller),
      token: secret === undefined ? undefined : hashPrefix + this.#hash(secret),
      data: data === undefined ? undefined : hashedData(data, this.#hash, plainKeys),
    }
  }
}

const unwritable = (cause?: unknown) =>
  outOfService("The audit log cannot be written; requests that it must record are rejected.", cause)

function describedCaller(caller: Caller): object {
  const { kind } = caller
  const policies = caller.acl.policies
  switch (kind) {
    case "user":
      return { kind, token_id: caller.tokenId, user_id: caller.userId, username: caller.username, policies }
    case "team":
      return { kind, token_id: caller.tokenId, team_id: caller.teamId, team_name: caller.teamName, policies }
    case "organization":
      return { kind, token_id: caller.tokenId, organization_id: caller.organizationId, policies }
    case "agent":
      return { kind, token_id: caller.tokenId, agent_pool_id: caller.agentPoolId, policies }
    case "service": {
      const { tokenId: token_id, login } = caller
      if (login === undefined) return { kind, token_id, policies }
      // No token was created, so its id would lead nowhere.
      return { kind, accessor: login.accessor, display_name: login.displayName, policies }
    }
    case "anonymous":
      return { kind }
    default:
      return caller satisfies never
  }
}

const longestText = 2_048
const shortened = (text: string): string => (text.length <= longestText ? text : `${text.slice(0, longestText)}…`)

let lastInstant: Instant | undefined
let lastTime = ""

/** Formats the time. Many entries fall into one millisecond, and formatting costs as much as a small entry, so the last text is reused. */
function timeOf(instant: Instant): string {
  if (instant !== lastInstant) [lastInstant, lastTime] = [instant, formatInstant(instant)]
  return lastTime
}

/** Logs failures at most once a second, because a full disk fails every request. */
function loggedNowAndThen(clock: Clock, log: Log, file: string): (error: unknown) => void {
  let loggedAt: Instant | undefined
  let unlogged = 0
  return (error) => {
    const now = clock.now()
    unlogged += 1
    if (loggedAt !== undefined && now >= loggedAt && now - loggedAt < secondMs) return
    log.error("audit-log-failed", { file, failureCount: unlogged, error })
    loggedAt = now
    unlogged = 0
  }
}

// Entries of the audit log: one JSON object per line, of three kinds that share a request id. Text that a request brings is
// written as a salted hash, so that the log gives no secret away and who knows a text can still search for it.
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
  /** At once, so that it is known whether it can be. Throws `UnusableAuditLog` where it cannot. */
  open(): Promise<void>
  close(): Promise<void>
}

export interface AuditLogOptions {
  readonly target: AuditTarget
  /** Trusted for a syslog receiver besides those that Node trusts, PEM. */
  readonly authorities?: string | undefined
  readonly hash: SaltedHash
  readonly runtime: Pick<Runtime, "clock" | "log">
  readonly timers: Timers
  readonly recordsOpenReads?: boolean
  readonly calls?: FileCalls
}

/** It is opened with its first entry. */
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
  /** Whether it may be there in a while. */
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
  /** Of the file when the first entry was made that must be on disk; undefined before. */
  #failureCount: number | undefined
  #requested = false
  /** Of the last `flush`. */
  #flushed: Promise<void> | undefined
  /** Something was appended after it. */
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

  // A member and not a method, because it is handed on by itself.
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
    // Whoever answers hears of it.
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
      // Only a loss of power in the next moment takes a response away that is in the file; to wait for the disk a second time would
      // cost every answer as much again.
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
    // Another's failure may have taken it along, or the request that it belongs to.
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
    const { method, path, operation, mount, remoteAddress, caller, secret, data, plainKeys } = request
    return {
      method,
      path: shortened(path),
      operation,
      mount,
      remote_address: remoteAddress,
      caller: describedCaller(caller),
      token: secret === undefined ? undefined : hashPrefix + this.#hash(secret),
      data: data === undefined ? undefined : hashedData(data, this.#hash, plainKeys),
    }
  }
}

const unwritable = (cause?: unknown) =>
  outOfService("The audit log cannot be written, and nothing may be done that it does not show.", cause)

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
    case "service":
      return { kind, token_id: caller.tokenId, policies }
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

/** Many entries fall into one millisecond, and the text of an instant costs as much as a small entry. */
function timeOf(instant: Instant): string {
  if (instant !== lastInstant) [lastInstant, lastTime] = [instant, formatInstant(instant)]
  return lastTime
}

/** A disk that is full fails every request: one line a second says enough. */
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

import { conflict, EngineError, type Fault } from "../../core/errors.ts"
import { formatInstant, type Instant, isAhead, minuteMs, secondMs } from "../../core/time.ts"
import { jsonDocumentReader } from "../state/state-parser.ts"
import type { StateVersionInput, StateVersionView } from "../state/state-version.ts"
import type { ClaimToken } from "../../organizations/claim-token.ts"
import type { Variable } from "../variables/variable.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"
import type { RunDocument, RunStage } from "./run-repository.ts"
import { isApplyStatus, isAtWork, isConfirmable, isFinal, isUntouched } from "./run-status.ts"
import type { Run, RunClaim, RunStep, RunView } from "./run.ts"

/** Target of an executor's search for a run. */
export type ClaimTarget =
  | { readonly kind: "organization"; readonly name: string }
  | { readonly kind: "workspace"; readonly ref: WorkspaceRef }
  | { readonly kind: "agent-pool"; readonly id: string }
  /** The pool of the calling agent. */
  | { readonly kind: "own-pool" }

export interface ClaimInput {
  /** Name of the executor. Documents of the run contain it. */
  readonly name: string
  /** Time in milliseconds after which a silent executor loses the run. */
  readonly leaseMs: number
  /** Time to wait for a run, in milliseconds. */
  readonly waitMs: number
}

export interface RunClaimView {
  readonly id: string
  readonly name: string
  readonly claimedAt: Instant
  readonly expiresAt: Instant
  readonly run: RunView
  readonly workspace: ExecutedWorkspace
}

/** Members of a workspace that its executor needs, also if it may not read the workspace. */
export interface ExecutedWorkspace {
  readonly name: string
  readonly organizationName: string
  /** Null means the root of the configuration. */
  readonly workingDirectory: string | null
  /** Version or constraint. The run's own version takes precedence. */
  readonly engineVersion: string
  /** The log consists of the tool's JSON messages, which the CLI of Terraform renders. */
  readonly structuredRunOutputEnabled: boolean
  /** The workspace has an SSH key, for modules from Git. */
  readonly hasSshKey: boolean
}

/** Variable with its value, also if it is sensitive. */
export type ExecutionVariable = Pick<Variable, "key" | "value" | "category" | "hcl" | "sensitive">

/**
 * Operations of executors. A claim belongs to one executor, and each call renews its lease. An executor that is silent for the length of
 * the lease loses the run. Users and teams claim runs of the execution mode `remote` that they may apply; agents claim runs of their pool.
 */
export interface RunClaims {
  /** Claims the longest waiting run that can begin now. Returns undefined if there is none. */
  claim(target: ClaimTarget, input: ClaimInput): Promise<RunClaimView | undefined>
  get(id: string): Promise<RunClaimView>
  heartbeat(id: string): Promise<RunClaimView>
  /** Moves the run to another status. Throws `conflict` if it cannot follow the present one. The last report can be repeated. */
  report(id: string, step: RunStep): Promise<RunClaimView>
  /**
   * Creates a token that can continue this claim and do nothing else, for a process that executes the run in place of the calling agent. It is
   * refused when the claim has ended, when the agent's own token is revoked, and after a week. Throws `not-found` for other callers.
   */
  createToken(id: string): Promise<ClaimToken>
  /** Releases a run whose plan or apply has not begun, or that waits for confirmation. Otherwise throws `conflict`. */
  release(id: string): Promise<void>
  /**
   * Appends to the log at `offset`. Bytes that are already in the log must be equal. Returns the new length of the log. Throws `conflict`
   * if `offset` is beyond its end, and after the plan or the apply has ended.
   */
  appendLog(id: string, stage: RunStage, offset: number, bytes: Uint8Array): Promise<number>
  saveDocument(id: string, document: RunDocument, bytes: Uint8Array): Promise<void>
  document(id: string, document: RunDocument): Promise<Uint8Array>
  /** Returns the private SSH key of the workspace. Throws `not-found` if it has none. */
  sshKey(id: string): Promise<string>
  /**
   * Returns the variables of the workspace, and the environment variables that HCP Terraform sets in every run. The run's own variables are
   * in the run and take precedence.
   */
  variables(id: string): Promise<readonly ExecutionVariable[]>
  /** Returns the archive of the run's configuration. Throws `not-found` if the run has none, or one that is stored elsewhere. */
  configuration(id: string): Promise<Uint8Array>
  /** Returns the current state of the workspace, as it was uploaded. Throws `not-found` if there is none. */
  state(id: string): Promise<AsyncIterable<Uint8Array>>
  /**
   * Creates a state version of the apply. It belongs to this run, whatever run `input` contains. Throws `conflict` unless the run is
   * `applying`.
   */
  createState(id: string, input: StateVersionInput): Promise<StateVersionView>
}

export const defaultLeaseMs = minuteMs
const leaseBoundsMs = { least: 10 * secondMs, most: 10 * minuteMs }
/** Shorter than the timeouts of proxies and clients. */
const maxWaitMs = 30 * secondMs
const maxName = 255

export function claimFaults({ name, leaseMs, waitMs }: ClaimInput): Fault[] {
  const faults: Fault[] = []
  if (name.length === 0 || name.length > maxName)
    faults.push({ field: ["name"], detail: `name must have 1 to ${maxName} characters` })
  if (!(leaseMs >= leaseBoundsMs.least && leaseMs <= leaseBoundsMs.most))
    faults.push({
      field: ["leaseSeconds"],
      detail: `lease-seconds must be from ${leaseBoundsMs.least / secondMs} to ${leaseBoundsMs.most / secondMs}`,
    })
  if (!(waitMs >= 0 && waitMs <= maxWaitMs))
    faults.push({ field: ["waitSeconds"], detail: `wait-seconds must be from 0 to ${maxWaitMs / secondMs}` })
  return faults
}

/** Returns the run with a lease that begins now. */
export const renewed = (run: Run, claim: RunClaim, now: Instant): Run =>
  isFinal(run.status) ? run : { ...run, claim: { ...claim, expiresAt: now + claim.leaseMs } }

/** Tolerated difference between the clocks of servers on one database, which renew and expire each other's claims. */
const claimToleranceMs = minuteMs

/** Longest time until a claim expires. A claim that expires later was made by a server whose clock was ahead. */
export const longestClaimMs = leaseBoundsMs.most + claimToleranceMs

/** Returns whether the claim expires later than a lease that begins now. The clock of the server that made it was ahead. */
export const isClaimAhead = ({ expiresAt, leaseMs }: RunClaim, now: Instant): boolean =>
  isAhead(expiresAt, now + leaseMs, claimToleranceMs)

/** Throws `conflict` if the lease has expired. The executor then no longer knows the status of the run. */
export function requireLive({ id, status }: Run, claim: RunClaim, now: Instant): void {
  if (!isFinal(status) && claim.expiresAt <= now)
    throw conflict("The claim has expired: the executor did not renew its lease.", { subject: id })
}

/** Returns whether a live executor is executing a stage of the run. Only the executor knows when it has stopped. */
export const isExecuting = ({ status, claim }: Run, now: Instant): boolean =>
  claim !== null && claim.expiresAt > now && isAtWork(status)

/** Time for an executor to stop. Then the run can be canceled by force. */
const forceCancelAfterMs = minuteMs
export const forceCancelAvailableAt = (cancelRequestedAt: Instant): Instant => cancelRequestedAt + forceCancelAfterMs

/** Throws `conflict` unless the executor has had time to stop. Until then its work needs the lock of the workspace. */
export function requireForceCancel(run: Run, now: Instant): void {
  if (!isExecuting(run, now)) return
  const { id: subject, claim, cancelRequestedAt } = run
  if (cancelRequestedAt === null)
    throw conflict(`The run is being executed by "${claim?.name}"; cancel it first.`, { subject })
  const availableAt = forceCancelAvailableAt(cancelRequestedAt)
  if (now < availableAt)
    throw conflict(`The run is being canceled; it can be canceled by force from ${formatInstant(availableAt)}.`, {
      subject,
    })
}

/** Returns whether another executor can take over safely, or the run has no work for an executor now. */
export const canBeReleased = ({ status }: Run): boolean =>
  isUntouched(status) || isConfirmable(status) || status === "policy_override"

/** Returns the stage that the run is in. */
export const stageOf = ({ status }: Pick<Run, "status">): RunStage => (isApplyStatus(status) ? "apply" : "plan")

/** Limit of one request that appends to a log. */
export const maxLogChunk = 512 * 1024
/** Limit of a whole log. It suffices for the debug output of long applies. */
const maxLog = 256 * 1024 * 1024
export const maxDocument = 32 * 1024 * 1024

/** Returns the bytes that are not in the log yet. The log has `size` bytes; `bytes` begins at `offset`. */
export function newPart(bytes: Uint8Array, offset: number, size: number): Uint8Array {
  if (offset > size) throw conflict(`The log has ${size} bytes; offset ${offset} would leave a gap.`)
  if (offset + bytes.length > maxLog) throw new EngineError("too-large", `The log is larger than ${maxLog} bytes.`)
  return bytes.subarray(Math.min(bytes.length, size - offset))
}

export function requireLogChunk(offset: number, bytes: Uint8Array): void {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new EngineError("bad-request", "The offset is not valid.", {
      faults: [{ detail: "offset must be a non-negative integer", parameter: "offset" }],
    })
  if (bytes.length > maxLogChunk) throw logChunkTooLarge()
}

export const logChunkTooLarge = () => new EngineError("too-large", `The log chunk is larger than ${maxLogChunk} bytes.`)

/** Throws `conflict` unless the stage can still write its log: an apply must have begun, and neither stage can write after its end. */
export function requireUnended(run: Run, stage: RunStage): void {
  if (stage === "apply" && stageOf(run) === "plan") throw conflict("The apply has not started.", { subject: run.id })
  const { statusTimestamps: reached } = run
  const ended =
    stage === "plan" ? (reached.planned ?? reached.planned_and_finished ?? reached.planned_and_saved) : reached.applied
  if (ended !== undefined || isFinal(run.status))
    throw conflict(`The ${stage} has ended; its log is closed.`, { subject: run.id })
}

export const documentTooLarge = (document: RunDocument) =>
  new EngineError("too-large", `The ${document} is larger than ${maxDocument} bytes.`)

export function requireDocument(document: RunDocument, bytes: Uint8Array): void {
  if (bytes.length > maxDocument) throw documentTooLarge(document)
  if (document === "plan-file") return
  try {
    // Checks only the syntax, and builds no values: the server reads none of them.
    const reader = jsonDocumentReader()
    reader.write(bytes)
    reader.end()
  } catch {
    const detail = `${document} is not valid JSON`
    const field = [document === "json-output" ? "jsonOutput" : "jsonOutputRedacted"]
    throw new EngineError("invalid", detail, { faults: [{ field, detail }] })
  }
}

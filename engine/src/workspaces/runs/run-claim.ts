import { conflict, EngineError, type Fault } from "../../core/errors.ts"
import { formatInstant, type Instant, isAhead, minuteMs, secondMs } from "../../core/time.ts"
import { jsonDocumentReader } from "../state/state-parser.ts"
import type { StateVersionInput, StateVersionView } from "../state/state-version.ts"
import type { Variable } from "../variables/variable.ts"
import type { WorkspaceRef } from "../workspace/workspace.ts"
import type { RunDocument, RunStage } from "./run-repository.ts"
import { isApplyStatus, isAtWork, isConfirmable, isFinal, isUntouched } from "./run-status.ts"
import type { Run, RunClaim, RunStep, RunView } from "./run.ts"

/** Where an executor looks for a run. */
export type ClaimTarget =
  | { readonly kind: "organization"; readonly name: string }
  | { readonly kind: "workspace"; readonly ref: WorkspaceRef }
  | { readonly kind: "agent-pool"; readonly id: string }

export interface ClaimInput {
  /** As it stands beside the run. */
  readonly name: string
  /** How long it may be silent, in milliseconds. */
  readonly leaseMs: number
  /** How long to wait for a run to come, in milliseconds. */
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

/** What an executor needs to know of a workspace that it may not be able to read. */
export interface ExecutedWorkspace {
  readonly name: string
  readonly organizationName: string
  /** Null for the root of the configuration. */
  readonly workingDirectory: string | null
  /** Or a constraint; a run may have its own. */
  readonly engineVersion: string
}

/** A variable as a run needs it: with its value, whether or not that may be read by people. */
export type ExecutionVariable = Pick<Variable, "key" | "value" | "category" | "hcl" | "sensitive">

/**
 * Runs as executors see them. A claim belongs to one executor, and each of these calls is a sign of its life; whoever is
 * silent for the length of the lease has lost the run. Users and teams claim runs of the execution mode `remote` that they
 * may apply, agents those of their pool.
 */
export interface RunClaims {
  /** The run that has waited longest of those that could begin now; undefined where there is none. */
  claim(target: ClaimTarget, input: ClaimInput): Promise<RunClaimView | undefined>
  get(id: string): Promise<RunClaimView>
  heartbeat(id: string): Promise<RunClaimView>
  /** To a status that can follow the present one, else `conflict`; the step that was reported last may come again. */
  report(id: string, step: RunStep): Promise<RunClaimView>
  /** Gives back a run whose plan or apply has not begun, or that waits for somebody's word; else `conflict`. */
  release(id: string): Promise<void>
  /**
   * Bytes of the log from `offset` on; those that are there already must be the same. Answers how long the log is then.
   * Refused with `conflict` beyond its end, and once the plan or the apply has ended.
   */
  appendLog(id: string, stage: RunStage, offset: number, bytes: Uint8Array): Promise<number>
  saveDocument(id: string, document: RunDocument, bytes: Uint8Array): Promise<void>
  document(id: string, document: RunDocument): Promise<Uint8Array>
  /** Of the workspace; the run's own, which count before them, stand in the run. */
  variables(id: string): Promise<readonly ExecutionVariable[]>
  /** The archive of the run's configuration; not found where it has none, or one that is kept elsewhere. */
  configuration(id: string): Promise<Uint8Array>
  /** The current state of the workspace, as its bytes were given; not found while it has none. */
  state(id: string): Promise<AsyncIterable<Uint8Array>>
  /** A state that the apply has made, in the name of the run, whatever run `input` names; `conflict` unless it is `applying`. */
  createState(id: string, input: StateVersionInput): Promise<StateVersionView>
}

export const defaultLeaseMs = minuteMs
const leaseBoundsMs = { least: 10 * secondMs, most: 10 * minuteMs }
/** Shorter than proxies and clients wait for an answer. */
const waitMaximumMs = 30 * secondMs
const nameMaximum = 255

export function claimFaults({ name, leaseMs, waitMs }: ClaimInput): Fault[] {
  const faults: Fault[] = []
  if (name.length === 0 || name.length > nameMaximum)
    faults.push({ field: ["name"], detail: `Name must have 1 to ${nameMaximum} characters` })
  if (!(leaseMs >= leaseBoundsMs.least && leaseMs <= leaseBoundsMs.most))
    faults.push({
      field: ["leaseSeconds"],
      detail: `Lease seconds must be from ${leaseBoundsMs.least / secondMs} to ${leaseBoundsMs.most / secondMs}`,
    })
  if (!(waitMs >= 0 && waitMs <= waitMaximumMs))
    faults.push({ field: ["waitSeconds"], detail: `Wait seconds must be from 0 to ${waitMaximumMs / secondMs}` })
  return faults
}

/** One more lease from now on. */
export const renewed = (run: Run, claim: RunClaim, now: Instant): Run =>
  isFinal(run.status) ? run : { ...run, claim: { ...claim, expiresAt: now + claim.leaseMs } }

/** Servers of one store may keep each other's claims. */
const claimToleranceMs = minuteMs

/** The longest that a claim lasts without a sign of life; one that ends later was taken by a clock that was ahead. */
export const longestClaimMs = leaseBoundsMs.most + claimToleranceMs

/** A lease that ends later than one which begins now: the clock that it was taken by was ahead. */
export const isClaimAhead = ({ expiresAt, leaseMs }: RunClaim, now: Instant): boolean =>
  isAhead(expiresAt, now + leaseMs, claimToleranceMs)

/** Whoever was silent too long no longer knows what has become of the run. */
export function requireLive({ id, status }: Run, claim: RunClaim, now: Instant): void {
  if (!isFinal(status) && claim.expiresAt <= now)
    throw conflict("The claim has ended: its executor was silent for longer than its lease.", { subject: id })
}

/** An executor that is alive is in the middle of something, and alone knows when it has stopped. */
export const isExecuting = ({ status, claim }: Run, now: Instant): boolean =>
  claim !== null && claim.expiresAt > now && isAtWork(status)

/** As long as an executor has to stop what it is at, before that can be ended without it. */
const forceCancelAfterMs = minuteMs
export const forceCancelAvailableAt = (cancelRequestedAt: Instant): Instant => cancelRequestedAt + forceCancelAfterMs

/** Without its executor a run is ended only once that has had its time to stop: what it does meanwhile needs the lock. */
export function requireForceCancel(run: Run, now: Instant): void {
  if (!isExecuting(run, now)) return
  const { id: subject, claim, cancelRequestedAt } = run
  if (cancelRequestedAt === null)
    throw conflict(`The run is at work at the executor "${claim?.name}" and has to be canceled first.`, { subject })
  const availableAt = forceCancelAvailableAt(cancelRequestedAt)
  if (now < availableAt)
    throw conflict(`The run is being canceled and can be canceled by force from ${formatInstant(availableAt)} on.`, {
      subject,
    })
}

/** Another executor can take it over without harm, or there is nothing an executor could do now. */
export const canBeGivenBack = ({ status }: Run): boolean =>
  isUntouched(status) || isConfirmable(status) || status === "policy_override"

/** Which half of the run is at work. */
export const stageOf = ({ status }: Run): RunStage => (isApplyStatus(status) ? "apply" : "plan")

/** One piece of a log that comes at once. */
export const logPieceMaximum = 512 * 1024
/** Of a whole log: enough for the debug output of long applies. */
const logMaximum = 64 * 1024 * 1024
export const documentMaximum = 32 * 1024 * 1024

/** What is new of a piece that begins at `offset` of a log of `size` bytes. */
export function newPart(bytes: Uint8Array, offset: number, size: number): Uint8Array {
  if (offset > size) throw conflict(`The log has ${size} bytes; what begins at ${offset} would leave a gap.`)
  if (offset + bytes.length > logMaximum)
    throw new EngineError("too-large", `The log is larger than ${logMaximum} bytes.`)
  return bytes.subarray(Math.min(bytes.length, size - offset))
}

export function requirePiece(offset: number, bytes: Uint8Array): void {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new EngineError("bad-request", "The offset is not valid.", {
      faults: [{ detail: "offset must be an integer from 0 on", parameter: "offset" }],
    })
  if (bytes.length > logPieceMaximum) throw pieceTooLarge()
}

export const pieceTooLarge = () =>
  new EngineError("too-large", `A piece of a log is larger than ${logPieceMaximum} bytes.`)

/** A log belongs to what is going on, and nothing follows what the plan or the apply has said at its end. */
export function requireUnended(run: Run, stage: RunStage): void {
  if (stage === "apply" && stageOf(run) === "plan") throw conflict("The apply has not begun.", { subject: run.id })
  const { statusTimestamps: reached } = run
  const ended =
    stage === "plan" ? (reached.planned ?? reached.planned_and_finished ?? reached.planned_and_saved) : reached.applied
  if (ended !== undefined || isFinal(run.status))
    throw conflict(`The ${stage} has ended, and its log with it.`, { subject: run.id })
}

export const documentTooLarge = (document: RunDocument) =>
  new EngineError("too-large", `The ${document} is larger than ${documentMaximum} bytes.`)

export function requireDocument(document: RunDocument, bytes: Uint8Array): void {
  if (bytes.length > documentMaximum) throw documentTooLarge(document)
  if (document !== "json-output") return
  try {
    // Makes no values of it: nothing in it is read here.
    const reader = jsonDocumentReader()
    reader.write(bytes)
    reader.end()
  } catch {
    throw new EngineError("invalid", "The JSON output is not a JSON document", {
      faults: [{ field: ["jsonOutput"], detail: "json-output is not a JSON document" }],
    })
  }
}

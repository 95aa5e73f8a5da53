import type { Instant } from "../core/time.ts"
import type { RunStep, RunView } from "./run.ts"
import type { RunDocument, RunStage } from "./run-record-store.ts"
import type { StateVersionInput, StateVersionView } from "./state-version.ts"
import type { Variable } from "./variable.ts"
import type { WorkspaceRef } from "./workspace.ts"

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

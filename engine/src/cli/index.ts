// Exports for packages that add commands (docs/decisions/optional-operator.md). Re-exports only.
export { Command } from "commander"
export { CommandError, exitCodes } from "./exit-code.ts"
export type { ExitCode } from "./exit-code.ts"
export { createProgram, runProgram } from "./program.ts"
export type { StoredManifests, OperatorModule } from "./operator.ts"
export { json, table } from "./report.ts"
export { processLog } from "./log.ts"
export { settingsOf } from "./setting-options.ts"
export { untilStopped } from "./shutdown.ts"
export { makeDataFolder } from "./store.ts"
export { addCallerOptions, withCallerEngine } from "./with-caller-engine.ts"
export { writeDurably } from "../storage/sqlite/durable-file.ts"
export { isLost, isTemporary, withRetries } from "../agent/runs/claim-retries.ts"
export {
  type PodClaims,
  podDataFolder,
  PodError,
  type PodExecutorOptions,
  podFilesFolder,
} from "../agent/pod-executor.ts"
export type { Execution, RunExecutor } from "../agent/run-executor.ts"
export { openRunLease, type RunLease } from "../agent/runs/run-lease.ts"
export { openRunLog } from "../agent/runs/run-log.ts"
export { SecretMask } from "../agent/runs/secret-mask.ts"
export { type RunClaimView, stageOf } from "../workspaces/runs/run-claim.ts"
export { isConfirmable, isFinal, type RunStatus } from "../workspaces/runs/run-status.ts"
export { processTerminal, type Terminal } from "./terminal.ts"

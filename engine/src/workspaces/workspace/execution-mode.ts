// Execution mode and agent pool of a workspace: its own, or the defaults of its project and organization (docs/compatibility.md, "Inherited
// settings").
import type { Fault } from "../../core/errors.ts"
import { type ExecutionMode, type RemoteOperations, remoteModeFaults } from "../../organizations/organization.ts"
import type { Checked } from "../access/workspace-authorization.ts"
import type { WorkspaceInput } from "./workspace-input.ts"
import type { WorkspaceSettings } from "./workspace.ts"

export type Execution = Pick<WorkspaceSettings, "executionMode" | "agentPoolId" | "settingOverwrites">

/** Defaults of the workspace: its project's, else its organization's. */
export interface ExecutionDefaults {
  readonly executionMode: ExecutionMode
  readonly agentPoolId: string | null
  readonly remoteOperations: RemoteOperations | null
}

export function executionDefaults(
  organization: {
    readonly defaultExecutionMode: ExecutionMode
    readonly defaultAgentPoolId: string | null
    readonly remoteOperations: RemoteOperations | null
  },
  project: { readonly defaultExecutionMode: ExecutionMode | null; readonly defaultAgentPoolId: string | null },
): ExecutionDefaults {
  return {
    executionMode: project.defaultExecutionMode ?? organization.defaultExecutionMode,
    agentPoolId: project.defaultAgentPoolId ?? organization.defaultAgentPoolId,
    remoteOperations: organization.remoteOperations,
  }
}

type ExecutionInput = Pick<WorkspaceInput, "executionMode" | "operations" | "agentPoolId" | "settingOverwrites">

export function changeExecution(
  before: Execution,
  input: ExecutionInput,
  defaults: ExecutionDefaults,
  { agentPoolExists, agentPoolAdmits }: { readonly agentPoolExists: boolean; readonly agentPoolAdmits: boolean },
): Checked<Execution> {
  const mode = input.executionMode ?? modeOfOperations(input.operations)
  // Go clients send "" for "not set" (docs/compatibility.md, "Empty values").
  const pool = input.agentPoolId === undefined ? undefined : input.agentPoolId || null
  const untouched = mode === undefined && pool === undefined && input.settingOverwrites === undefined
  if (untouched) {
    const { executionMode, agentPoolId, settingOverwrites } = before
    return { value: { executionMode, agentPoolId, settingOverwrites }, faults: [] }
  }

  const executionMode = mode ?? before.executionMode
  const ownPool = pool === undefined ? before.agentPoolId : pool
  const overwritesMode = input.settingOverwrites
    ? (input.settingOverwrites.executionMode ?? true)
    : mode !== undefined || before.settingOverwrites.executionMode
  const effective = overwritesMode ? executionMode : defaults.executionMode
  const overwritesPool = input.settingOverwrites
    ? // An absent member means true. But without a pool of its own, a workspace cannot overwrite the pool of an inherited mode.
      (input.settingOverwrites.agentPool ?? (overwritesMode || effective !== "agent" || ownPool !== null))
    : mode !== undefined || (pool ?? null) !== null || before.settingOverwrites.agentPool
  const usedPool = overwritesPool ? ownPool : defaults.agentPoolId

  const faults: Fault[] = remoteModeFaults(
    input.executionMode === undefined ? "operations" : "executionMode",
    mode,
    defaults.remoteOperations,
  )
  if (input.executionMode !== undefined && input.operations !== undefined)
    faults.push({
      field: ["operations"],
      detail: "Operations is deprecated and cannot be specified when execution mode is used",
    })
  if (overwritesMode && mode === undefined && !before.settingOverwrites.executionMode)
    faults.push({
      field: ["executionMode"],
      detail: "Execution mode must be specified when it overwrites the default",
    })
  if (typeof pool === "string" && effective !== "agent")
    faults.push({
      field: ["agentPoolId"],
      detail: "Agent pool must not be specified unless using 'agent' execution mode",
    })
  if (typeof pool === "string" && !agentPoolExists)
    faults.push({ field: ["agentPoolId"], detail: "Agent pool does not exist in this organization" })
  if (typeof pool === "string" && agentPoolExists && !agentPoolAdmits)
    faults.push({ field: ["agentPoolId"], detail: "Agent pool is not available to this workspace" })
  if (effective === "agent" && usedPool === null)
    faults.push({ field: ["agentPoolId"], detail: "Agent pool must be specified when using 'agent' execution mode" })

  return {
    value: {
      executionMode,
      agentPoolId: effective === "agent" ? ownPool : null,
      settingOverwrites: { executionMode: overwritesMode, agentPool: overwritesPool },
    },
    faults,
  }
}

const modeOfOperations = (operations: boolean | undefined): ExecutionMode | undefined =>
  operations === undefined ? undefined : operations ? "remote" : "local"

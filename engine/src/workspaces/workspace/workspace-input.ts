import type { Fault } from "../../core/errors.ts"
import type { Instant } from "../../core/time.ts"
import type { ExecutionMode } from "../../organizations/organization.ts"

export interface VcsRepoInput {
  readonly identifier?: string | null
  readonly oauthTokenId?: string | null
  readonly githubAppInstallationId?: string | null
  readonly branch?: string | null
  readonly ingressSubmodules?: boolean
  readonly tagsRegex?: string | null
}

export interface TagBindingInput {
  readonly key: string
  readonly value: string
}

/** Flat tag by name, or an existing one by id. */
export type TagInput = { readonly name: string } | { readonly id: string }

/**
 * Input of create and update. An absent member takes its default at create and keeps its value at update. `null` clears it. So does the
 * empty string in members where public clients send it for "not set" (docs/compatibility.md, "Empty values").
 */
export interface WorkspaceInput {
  readonly name?: string
  readonly description?: string | null
  readonly executionMode?: ExecutionMode
  /** Deprecated form of the execution mode: true is remote, false is local. */
  readonly operations?: boolean
  readonly agentPoolId?: string | null
  readonly settingOverwrites?: { readonly executionMode?: boolean; readonly agentPool?: boolean }
  readonly allowDestroyPlan?: boolean
  readonly assessmentsEnabled?: boolean
  readonly autoApply?: boolean
  readonly autoApplyRunTrigger?: boolean
  readonly autoDestroyAt?: Instant | null
  readonly autoDestroyActivityDuration?: string | null
  readonly inheritsProjectAutoDestroy?: boolean
  readonly fileTriggersEnabled?: boolean
  readonly globalRemoteState?: boolean
  readonly projectRemoteState?: boolean
  readonly queueAllRuns?: boolean
  readonly speculativeEnabled?: boolean
  readonly structuredRunOutputEnabled?: boolean
  readonly engineVersion?: string
  readonly triggerPatterns?: readonly string[]
  readonly triggerPrefixes?: readonly string[]
  /** `null` removes the connection. An object changes only its own members. */
  readonly vcsRepo?: VcsRepoInput | null
  readonly workingDirectory?: string | null
  readonly sourceName?: string | null
  readonly sourceUrl?: string | null
  /** Project to create the workspace in, or to move it to. Blank means the default project at create and no move at update. */
  readonly projectId?: string | null
  /** Bindings with a value. At update they replace those of the workspace. */
  readonly tagBindings?: readonly TagBindingInput[]
  /** Flat tags to add to those of the workspace. */
  readonly tags?: readonly TagInput[]
  /** Faults that the parser already found. They are reported together with those of the rules. */
  readonly faults?: readonly Fault[]
}

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

/** A flat tag by name, or an existing one by id. */
export type TagInput = { readonly name: string } | { readonly id: string }

/**
 * Input of create and update. An absent member takes its default at create and keeps its value at update. `null` means none; so does
 * the empty string where public clients send it for "not set" (docs/compatibility.md, "Empty values").
 */
export interface WorkspaceInput {
  readonly name?: string
  readonly description?: string | null
  readonly executionMode?: ExecutionMode
  /** Deprecated spelling of the execution mode: true is remote, false is local. */
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
  /** `null` removes the binding; an object changes only the members it has. */
  readonly vcsRepo?: VcsRepoInput | null
  readonly workingDirectory?: string | null
  readonly sourceName?: string | null
  readonly sourceUrl?: string | null
  /** At create the project to create in, at update the one to move to; blank means neither. */
  readonly projectId?: string | null
  /** Bindings with a value; at update they replace those the workspace has. */
  readonly tagBindings?: readonly TagBindingInput[]
  /** Flat tags that join those the workspace has. */
  readonly tags?: readonly TagInput[]
  /** What the reader of the document already found wrong; reported together with what the rules find. */
  readonly faults?: readonly Fault[]
}

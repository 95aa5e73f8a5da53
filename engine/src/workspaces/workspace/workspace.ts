import type {
  ConfigurationVersionId,
  OrganizationId,
  ProjectId,
  RunId,
  StateVersionId,
  WorkspaceId,
} from "../../core/ids.ts"
import type { Instant } from "../../core/time.ts"
import type { ExecutionMode, Plan, RemoteOperations } from "../../organizations/organization.ts"

/** Reference to a workspace: by id, or by organization and name. Both behave identically. */
export type WorkspaceRef = { readonly id: string } | { readonly organization: string; readonly name: string }

export const actorKinds = ["users", "teams", "runs", "organizations"] as const
/** Holder of a lock. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number]
  readonly id: string
  /** Name of the user or team. Absent until `nameHolder` has read it. */
  readonly name?: string
}

/** Expiry of a lock, with the duration that was last requested. */
export interface LockEnd {
  readonly at: Instant
  readonly ttlMs: number
}

export type Lock =
  | { readonly held: false }
  | {
      readonly held: true
      readonly by: Actor
      readonly reason: string
      readonly since: Instant
      /** Present only if the lock expires. */
      readonly end?: LockEnd
    }

export interface VcsRepo {
  readonly identifier: string
  readonly oauthTokenId: string | null
  readonly githubAppInstallationId: string | null
  /** Empty means the repository's default branch. */
  readonly branch: string
  readonly ingressSubmodules: boolean
  readonly tagsRegex: string | null
}

/** Settings that clients can write. An omitted member takes its default at create and keeps its value at update. */
export interface WorkspaceSettings {
  readonly name: string
  readonly description: string | null
  /** The workspace's own mode and pool. Each is effective only while the overwrite of the same name is true. */
  readonly executionMode: ExecutionMode
  readonly agentPoolId: string | null
  readonly settingOverwrites: { readonly executionMode: boolean; readonly agentPool: boolean }
  readonly allowDestroyPlan: boolean
  readonly assessmentsEnabled: boolean
  readonly autoApply: boolean
  readonly autoApplyRunTrigger: boolean
  readonly autoDestroyAt: Instant | null
  readonly autoDestroyActivityDuration: string | null
  readonly inheritsProjectAutoDestroy: boolean
  readonly fileTriggersEnabled: boolean
  readonly globalRemoteState: boolean
  /** All workspaces of the project may read the state. Excludes `globalRemoteState`. */
  readonly projectRemoteState: boolean
  readonly queueAllRuns: boolean
  readonly speculativeEnabled: boolean
  readonly structuredRunOutputEnabled: boolean
  readonly engineVersion: string
  readonly triggerPatterns: readonly string[]
  readonly triggerPrefixes: readonly string[]
  readonly vcsRepo: VcsRepo | null
  readonly workingDirectory: string | null
}

/** Metrics over the past 30 runs that errored or were applied; null before the first such run. */
export interface RunMetrics {
  readonly applyDurationAverageMs: number | null
  readonly planDurationAverageMs: number | null
  readonly policyCheckFailures: number | null
  readonly runFailures: number | null
  readonly runsCount: number | null
}

export interface Workspace extends WorkspaceSettings {
  readonly id: WorkspaceId
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Creation of the newest state version, or of the workspace. */
  readonly latestChangeAt: Instant
  readonly environment: string
  readonly source: string
  readonly sourceName: string | null
  readonly sourceUrl: string | null
  /** Outcome of the last scheduled auto-destroy. */
  readonly autoDestroyStatus: string | null
  /** Activity for which auto-destroy is already done. Later activity starts a new period. */
  readonly autoDestroySettledAt: Instant | null
  readonly lock: Lock
  readonly lockNumber: number
  readonly sshKeyId: string | null
  readonly currentRunId: RunId | null
  readonly currentStateVersionId: StateVersionId | null
  readonly currentConfigurationVersionId: ConfigurationVersionId | null
  readonly currentAssessmentResultId: string | null
  readonly lastAssessmentResultAt: Instant | null
  readonly resourceCount: number
  readonly metrics: RunMetrics
}

/** Workspace with the data of its organization, project and connections that documents and rules need. */
export interface SituatedWorkspace extends Workspace {
  /** Instant at which the current run was queued. */
  readonly currentRunAt: Instant | null
  readonly organization: {
    readonly name: string
    readonly defaultExecutionMode: ExecutionMode
    readonly defaultAgentPoolId: string | null
    readonly remoteOperations: RemoteOperations | null
    readonly allowForceDeleteWorkspaces: boolean
    readonly assessmentsEnforced: boolean
    readonly plan: Plan
  }
  readonly project: {
    readonly name: string
    readonly defaultExecutionMode: ExecutionMode | null
    readonly defaultAgentPoolId: string | null
    readonly autoDestroyActivityDuration: string | null
  }
  readonly vcsConnection: {
    readonly name: string | null
    readonly serviceProvider: string
    readonly httpUrl: string
  } | null
  readonly readmeId: string | null
  readonly retentionPolicy: { readonly id: string; readonly kind: "delete-older" | "dont-delete" } | null
}

export interface ExecutionPlace {
  readonly mode: ExecutionMode
  readonly agentPoolId: string | null
}

/** Returns the execution that clients see. All workspaces of an organization without remote operations execute locally. */
export const effectiveExecution = (workspace: SituatedWorkspace): ExecutionPlace =>
  workspace.organization.remoteOperations === "on"
    ? configuredExecution(workspace)
    : { mode: "local", agentPoolId: null }

/**
 * Returns the workspace's own values if it overwrites the defaults, else the project's defaults, else the organization's. Runs that were
 * queued before remote operations were switched off still execute by them.
 */
export function configuredExecution(workspace: SituatedWorkspace): ExecutionPlace {
  const { settingOverwrites, organization, project } = workspace
  const mode = settingOverwrites.executionMode
    ? workspace.executionMode
    : (project.defaultExecutionMode ?? organization.defaultExecutionMode)
  if (mode !== "agent") return { mode, agentPoolId: null }
  const own = settingOverwrites.agentPool ? workspace.agentPoolId : null
  const agentPoolId = own ?? project.defaultAgentPoolId ?? organization.defaultAgentPoolId
  return { mode, agentPoolId }
}

// Workspace as callers get it. The document on the wire contains every member, so that the embedded and the remote engine return the same
// value.
import type { Edition } from "../../core/edition.ts"
import type { ExecutionMode } from "../../organizations/organization.ts"
import { effectiveAutoDestroy } from "./auto-destroy.ts"
import { knownReleases, resolveEngineVersion } from "./terraform-version.ts"
import type { WorkspacePermissions } from "../access/workspace-permissions.ts"
import { assessmentObstacles } from "./workspace-settings.ts"
import { effectiveExecution, type SituatedWorkspace, type VcsRepo, type Workspace } from "./workspace.ts"
import type { WorkspaceRelated } from "./workspace-repository.ts"

export interface VcsRepoView extends VcsRepo {
  readonly repositoryHttpUrl: string | null
  readonly serviceProvider: string | null
}

/** Workspace with the effective execution mode, agent pool and auto-destroy, own or inherited. */
export interface WorkspaceView
  extends
    Omit<Workspace, "vcsRepo" | "assessmentsEnabled" | "organizationId" | "lockNumber" | "autoDestroySettledAt">,
    WorkspaceRelated {
  readonly organizationName: string
  readonly vcsRepo: VcsRepoView | null
  readonly oauthClientName: string | null
  /** Hosted edition only. */
  readonly assessmentsEnabled?: boolean
  readonly isDestroyable: boolean
  readonly readmeId: string | null
  /** Only a policy that is set on the workspace itself. */
  readonly retentionPolicy: SituatedWorkspace["retentionPolicy"]
  readonly permissions: WorkspacePermissions
}

const nothingRelated: WorkspaceRelated = { tagNames: [], variableIds: [], outputIds: [] }

interface Viewed {
  readonly permissions: WorkspacePermissions
  readonly related: WorkspaceRelated
  readonly edition: Edition
  readonly view: WorkspaceView
}

// Cache of views. The repository returns the same object for an unchanged workspace, so its last view can be reused.
const lastViews = new WeakMap<SituatedWorkspace, Viewed>()

export function viewWorkspace(
  situated: SituatedWorkspace,
  permissions: WorkspacePermissions,
  related: WorkspaceRelated = nothingRelated,
  edition: Edition,
): WorkspaceView {
  const last = lastViews.get(situated)
  if (last?.permissions === permissions && last.related === related && last.edition === edition) return last.view
  const view = makeView(situated, permissions, related, edition)
  lastViews.set(situated, { permissions, related, edition, view })
  return view
}

/** Copies each member by name: this runs for every workspace of every response, and rest syntax costs ten times as much. */
function makeView(
  situated: SituatedWorkspace,
  permissions: WorkspacePermissions,
  related: WorkspaceRelated,
  edition: Edition,
): WorkspaceView {
  const { organization, vcsConnection, vcsRepo } = situated
  const { mode, agentPoolId } = effectiveExecution(situated)
  const autoDestroy = effectiveAutoDestroy(situated)
  const view: WorkspaceView = {
    id: situated.id,
    projectId: situated.projectId,
    name: situated.name,
    description: situated.description,
    createdAt: situated.createdAt,
    updatedAt: situated.updatedAt,
    latestChangeAt: situated.latestChangeAt,
    environment: situated.environment,
    source: situated.source,
    sourceName: situated.sourceName,
    sourceUrl: situated.sourceUrl,
    settingOverwrites: situated.settingOverwrites,
    allowDestroyPlan: situated.allowDestroyPlan,
    autoApply: situated.autoApply,
    autoApplyRunTrigger: situated.autoApplyRunTrigger,
    autoDestroyStatus: situated.autoDestroyStatus,
    inheritsProjectAutoDestroy: situated.inheritsProjectAutoDestroy,
    fileTriggersEnabled: situated.fileTriggersEnabled,
    globalRemoteState: situated.globalRemoteState,
    projectRemoteState: situated.projectRemoteState,
    queueAllRuns: situated.queueAllRuns,
    speculativeEnabled: situated.speculativeEnabled,
    structuredRunOutputEnabled: situated.structuredRunOutputEnabled,
    engineVersion: situated.engineVersion,
    triggerPatterns: situated.triggerPatterns,
    triggerPrefixes: situated.triggerPrefixes,
    workingDirectory: situated.workingDirectory,
    lock: situated.lock,
    sshKeyId: situated.sshKeyId,
    currentRunId: situated.currentRunId,
    currentStateVersionId: situated.currentStateVersionId,
    currentConfigurationVersionId: situated.currentConfigurationVersionId,
    currentAssessmentResultId: situated.currentAssessmentResultId,
    lastAssessmentResultAt: situated.lastAssessmentResultAt,
    resourceCount: situated.resourceCount,
    metrics: situated.metrics,
    readmeId: situated.readmeId,
    // A policy that was set before the edition was changed has no effect and no endpoint.
    retentionPolicy: edition === "hosted" ? null : situated.retentionPolicy,
    executionMode: mode,
    agentPoolId,
    autoDestroyAt: autoDestroy.at,
    autoDestroyActivityDuration: autoDestroy.activityDuration,
    organizationName: organization.name,
    vcsRepo: vcsRepo && viewVcsRepo(vcsRepo, vcsConnection),
    oauthClientName: vcsConnection?.name ?? null,
    isDestroyable: permissions.canDestroy && situated.allowDestroyPlan,
    permissions,
    tagNames: related.tagNames,
    variableIds: related.variableIds,
    outputIds: related.outputIds,
  }
  if (edition === "self-hosted") return view
  return { ...view, assessmentsEnabled: situated.assessmentsEnabled || isEnforced(situated, mode) }
}

/** Returns whether the organization enforces assessments. It does so on every workspace that can be assessed. */
const isEnforced = ({ organization, engineVersion }: SituatedWorkspace, mode: ExecutionMode): boolean =>
  organization.assessmentsEnforced &&
  assessmentObstacles({
    plan: organization.plan,
    mode,
    version: resolveEngineVersion(engineVersion, knownReleases()),
  }).length === 0

function viewVcsRepo(repo: VcsRepo, connection: SituatedWorkspace["vcsConnection"]): VcsRepoView {
  if (connection === null) return { ...repo, repositoryHttpUrl: null, serviceProvider: null }
  const repositoryHttpUrl = `${connection.httpUrl.replace(/\/$/, "")}/${repo.identifier}`
  return { ...repo, repositoryHttpUrl, serviceProvider: connection.serviceProvider }
}

// What a caller is shown of a workspace: all of it stands in the document on the wire, so that the embedded and the remote
// engine return the same value.
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

/** Execution mode, agent pool and auto-destroy are the effective ones, own or inherited. */
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
  /** Only a policy set on the workspace itself. */
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

// A store that finds a workspace as it was hands out the same value, and then the view of it is the same as well.
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

/** Member by member: this runs for every workspace of every answer, and copying what is left over costs ten times as much. */
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
    // Left from before the edition was changed, it would have no effect and no endpoint.
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

/** An organization enforces assessments on every workspace that can be assessed. */
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

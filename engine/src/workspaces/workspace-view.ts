// What a caller is shown of a workspace: all of it stands in the document on the wire, so that the embedded and the remote
// engine return the same value.
import type { Edition } from "../core/edition.ts"
import { effectiveAutoDestroy } from "./auto-destroy.ts"
import type { WorkspacePermissions } from "./permissions.ts"
import { effectiveExecution, type SituatedWorkspace, type VcsRepo, type Workspace } from "./workspace.ts"
import type { WorkspaceRelated } from "./workspace-store.ts"

export interface VcsRepoView extends VcsRepo {
  readonly repositoryHttpUrl: string | null
  readonly serviceProvider: string | null
}

/** Execution mode, agent pool and auto-destroy are the effective ones, own or inherited. */
export interface WorkspaceView
  extends Omit<Workspace, "vcsRepo" | "assessmentsEnabled" | "organizationId" | "lockNumber">, WorkspaceRelated {
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

export function viewWorkspace(
  situated: SituatedWorkspace,
  permissions: WorkspacePermissions,
  related: WorkspaceRelated = nothingRelated,
  edition: Edition,
): WorkspaceView {
  const { organizationId: _id, lockNumber: _number, organization, project: _project, ...rest } = situated
  const { vcsConnection, assessmentsEnabled, vcsRepo, ...workspace } = rest
  const { mode, agentPoolId } = effectiveExecution(situated)
  const autoDestroy = effectiveAutoDestroy(situated)
  return {
    ...workspace,
    ...related,
    executionMode: mode,
    agentPoolId,
    autoDestroyAt: autoDestroy.at,
    autoDestroyActivityDuration: autoDestroy.activityDuration,
    organizationName: organization.name,
    vcsRepo: vcsRepo && viewVcsRepo(vcsRepo, vcsConnection),
    oauthClientName: vcsConnection?.name ?? null,
    ...(edition === "hosted" ? { assessmentsEnabled: assessmentsEnabled || organization.assessmentsEnforced } : {}),
    isDestroyable: permissions.canDestroy && situated.allowDestroyPlan,
    permissions,
  }
}

function viewVcsRepo(repo: VcsRepo, connection: SituatedWorkspace["vcsConnection"]): VcsRepoView {
  if (connection === null) return { ...repo, repositoryHttpUrl: null, serviceProvider: null }
  const repositoryHttpUrl = `${connection.httpUrl.replace(/\/$/, "")}/${repo.identifier}`
  return { ...repo, repositoryHttpUrl, serviceProvider: connection.serviceProvider }
}

// Encoder of the workspace document, written by hand because lists of workspaces are long and read often. A test in workspace.test.ts
// compares it with the members of the contract.
import { formatInstant, type Instant, secondMs } from "../../core/time.ts"
import { type Resource, toMany, toOne } from "./json-api/document.ts"
import { dashed } from "./json-api/member-name.ts"
import { type WorkspacePermissions, workspacePermissionNames } from "../../workspaces/access/workspace-permissions.ts"
import type { VcsRepoView, WorkspaceView } from "../../workspaces/workspace/workspace-view.ts"
import { retentionTypes } from "./retention-policy.ts"

/** View with the ids of its effective tag bindings, if the answer includes them. */
export interface EncodedWorkspace extends WorkspaceView {
  readonly effectiveTagBindingIds?: readonly string[] | undefined
}

const permissionMembers = workspacePermissionNames.map((name) => [name, dashed(name)] as const)

// Cache by identity: most callers have a whole access level, and each level is one object.
const encodedPermissions = new WeakMap<WorkspacePermissions, Readonly<Record<string, boolean>>>()

function encodePermissions(permissions: WorkspacePermissions): Readonly<Record<string, boolean>> {
  const known = encodedPermissions.get(permissions)
  if (known !== undefined) return known
  const encoded = Object.fromEntries(permissionMembers.map(([name, member]) => [member, permissions[name]]))
  encodedPermissions.set(permissions, encoded)
  return encoded
}

export function encodeWorkspace(workspace: EncodedWorkspace): Resource {
  const { metrics, lock, permissions, effectiveTagBindingIds } = workspace
  const path = `/api/v2/workspaces/${workspace.id}`
  return {
    id: workspace.id,
    type: "workspaces",
    attributes: {
      name: workspace.name,
      actions: { "is-destroyable": workspace.isDestroyable },
      "allow-destroy-plan": workspace.allowDestroyPlan,
      "assessments-enabled": workspace.assessmentsEnabled,
      "auto-apply": workspace.autoApply,
      "auto-apply-run-trigger": workspace.autoApplyRunTrigger,
      "auto-destroy-at": optionalInstant(workspace.autoDestroyAt),
      "auto-destroy-status": workspace.autoDestroyStatus,
      "auto-destroy-activity-duration": workspace.autoDestroyActivityDuration,
      "inherits-project-auto-destroy": workspace.inheritsProjectAutoDestroy,
      "created-at": formatInstant(workspace.createdAt),
      description: workspace.description,
      environment: workspace.environment,
      "execution-mode": workspace.executionMode,
      "file-triggers-enabled": workspace.fileTriggersEnabled,
      "global-remote-state": workspace.globalRemoteState,
      "project-remote-state": workspace.projectRemoteState,
      "latest-change-at": formatInstant(workspace.latestChangeAt),
      "last-assessment-result-at": optionalInstant(workspace.lastAssessmentResultAt),
      locked: lock.held,
      "locked-reason": lock.held ? lock.reason : null,
      "locked-at": lock.held ? formatInstant(lock.since) : null,
      "locked-until": lock.held && lock.end !== undefined ? formatInstant(lock.end.at) : undefined,
      "lock-ttl": lock.held && lock.end !== undefined ? lock.end.ttlMs / secondMs : undefined,
      "oauth-client-name": workspace.oauthClientName,
      operations: workspace.executionMode !== "local",
      permissions: encodePermissions(permissions),
      "apply-duration-average": metrics.applyDurationAverageMs,
      "plan-duration-average": metrics.planDurationAverageMs,
      "policy-check-failures": metrics.policyCheckFailures,
      "run-failures": metrics.runFailures,
      "workspace-kpis-runs-count": metrics.runsCount,
      "workspace-kpis-run-count": metrics.runsCount,
      "queue-all-runs": workspace.queueAllRuns,
      "resource-count": workspace.resourceCount,
      "setting-overwrites": {
        "execution-mode": workspace.settingOverwrites.executionMode,
        "agent-pool": workspace.settingOverwrites.agentPool,
      },
      source: workspace.source,
      "source-name": workspace.sourceName,
      "source-url": workspace.sourceUrl,
      "speculative-enabled": workspace.speculativeEnabled,
      "structured-run-output-enabled": workspace.structuredRunOutputEnabled,
      "tag-names": workspace.tagNames,
      "engine-version": workspace.engineVersion,
      "terraform-version": workspace.engineVersion,
      "trigger-prefixes": workspace.triggerPrefixes,
      "trigger-patterns": workspace.triggerPatterns,
      "updated-at": formatInstant(workspace.updatedAt),
      "vcs-repo": workspace.vcsRepo && encodeVcsRepo(workspace.vcsRepo),
      "vcs-repo-identifier": workspace.vcsRepo?.identifier ?? null,
      "working-directory": workspace.workingDirectory,
    },
    relationships: {
      organization: toOne("organizations", workspace.organizationName),
      project: toOne("projects", workspace.projectId),
      "agent-pool": toOne("agent-pools", workspace.agentPoolId),
      "current-configuration-version": {
        ...toOne("configuration-versions", workspace.currentConfigurationVersionId),
        links: related(workspace.currentConfigurationVersionId, "configuration-versions"),
      },
      "current-run": { ...toOne("runs", workspace.currentRunId), links: related(workspace.currentRunId, "runs") },
      "latest-run": { ...toOne("runs", workspace.currentRunId), links: related(workspace.currentRunId, "runs") },
      "current-state-version": {
        ...toOne("state-versions", workspace.currentStateVersionId),
        links: { related: `${path}/current-state-version` },
      },
      "current-assessment-result": toOne("assessment-results", workspace.currentAssessmentResultId),
      "effective-tag-bindings": {
        links: { related: `${path}/effective-tag-bindings` },
        ...(effectiveTagBindingIds && toMany("effective-tag-bindings", effectiveTagBindingIds)),
      },
      "tag-bindings": { links: { related: `${path}/tag-bindings` } },
      outputs: {
        ...toMany("workspace-outputs", workspace.outputIds),
        links: { related: `${path}/current-state-version-outputs` },
      },
      readme: toOne("workspace-readme", workspace.readmeId),
      "remote-state-consumers": { links: { related: `${path}/relationships/remote-state-consumers` } },
      "ssh-key": { ...toOne("ssh-keys", workspace.sshKeyId), links: related(workspace.sshKeyId, "ssh-keys") },
      "locked-by": lock.held
        ? { ...toOne(lock.by.kind, lock.by.id), links: { related: `/api/v2/${lock.by.kind}/${lock.by.id}` } }
        : { data: null },
      vars: toMany("vars", workspace.variableIds),
      // Present only if the workspace itself has a policy: clients branch on it (docs/compatibility.md, "Retention policies").
      ...(workspace.retentionPolicy === null
        ? {}
        : {
            "data-retention-policy": toOne(
              retentionTypes[workspace.retentionPolicy.kind],
              workspace.retentionPolicy.id,
            ),
          }),
    },
    links: {
      self: `/api/v2/organizations/${workspace.organizationName}/workspaces/${workspace.name}`,
      "self-html": `/app/${workspace.organizationName}/workspaces/${workspace.name}`,
    },
  }
}

const optionalInstant = (instant: Instant | null) => (instant === null ? null : formatInstant(instant))
const related = (id: string | null, type: string) => ({ related: id === null ? null : `/api/v2/${type}/${id}` })

/** Encodes a repository. Members are strings except for one boolean; an absent value is empty. */
const encodeVcsRepo = (repo: VcsRepoView) => ({
  branch: repo.branch,
  "display-identifier": repo.identifier,
  identifier: repo.identifier,
  "ingress-submodules": repo.ingressSubmodules,
  "oauth-token-id": repo.oauthTokenId ?? "",
  "github-app-installation-id": repo.githubAppInstallationId ?? "",
  "repository-http-url": repo.repositoryHttpUrl ?? "",
  "service-provider": repo.serviceProvider ?? "",
  "tags-regex": repo.tagsRegex ?? "",
  // Webhooks of VCS providers are not supported, so there is no URL to receive them.
  "webhook-url": "",
})

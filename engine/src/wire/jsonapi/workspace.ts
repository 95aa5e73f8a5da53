// The workspace document, with all members that public clients read.
import { z } from "zod"
import type { ConfigurationVersionId, ProjectId, RunId, StateVersionId, WorkspaceId } from "../../core/ids.ts"
import { formatInstant, type Instant, parseDuration, secondMs } from "../../core/time.ts"
import type { LockExtension, LockInput } from "../../workspaces/lock.ts"
import { type WorkspacePermissions, workspacePermissionNames } from "../../workspaces/permissions.ts"
import { executionModes } from "../../organizations/organization.ts"
import type { Actor, Lock } from "../../workspaces/workspace.ts"
import type { VcsRepoView, WorkspaceView } from "../../workspaces/workspace-view.ts"
import { decodeActor } from "./actor.ts"
import { type MembersReader, readResource } from "./answer.ts"
import { decodeBody, type Resource, toMany, toOne } from "./document.ts"
import { dashed } from "./member-name.ts"
import { retentionTypes } from "../../contracts/tfe/retention-policy.ts"

const permissionMembers = workspacePermissionNames.map((name) => [name, dashed(name)] as const)

// Callers mostly hold a whole access level, and each level is one object.
const encodedPermissions = new WeakMap<WorkspacePermissions, Readonly<Record<string, boolean>>>()

function encodePermissions(permissions: WorkspacePermissions): Readonly<Record<string, boolean>> {
  const known = encodedPermissions.get(permissions)
  if (known !== undefined) return known
  const encoded = Object.fromEntries(permissionMembers.map(([name, member]) => [member, permissions[name]]))
  encodedPermissions.set(permissions, encoded)
  return encoded
}

export function encodeWorkspace(workspace: WorkspaceView): Resource {
  const { metrics, lock, permissions } = workspace
  const path = `/api/v2/workspaces/${workspace.id}`
  return {
    id: workspace.id,
    type: "workspaces",
    attributes: {
      name: workspace.name,
      actions: { "is-destroyable": workspace.isDestroyable },
      "allow-destroy-plan": workspace.allowDestroyPlan,
      ...(workspace.assessmentsEnabled === undefined ? {} : { "assessments-enabled": workspace.assessmentsEnabled }),
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
      ...(lock.held && lock.end !== undefined
        ? { "locked-until": formatInstant(lock.end.at), "lock-ttl": lock.end.ttlMs / secondMs }
        : {}),
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
      "effective-tag-bindings": { links: { related: `${path}/effective-tag-bindings` } },
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

/** The other direction of `encodeWorkspace`. */
export function decodeWorkspace(resource: unknown): WorkspaceView {
  const { id, attributes: own, ...related } = readResource(resource, "workspaces")
  const overwrites = own.members("settingOverwrites")
  const vcsRepo = own.membersOrNull("vcsRepo")
  return {
    id: id as WorkspaceId,
    organizationName: related.one("organization"),
    projectId: related.one("project") as ProjectId,
    name: own.text("name"),
    description: own.textOrNull("description"),
    isDestroyable: own.members("actions").flag("isDestroyable"),
    allowDestroyPlan: own.flag("allowDestroyPlan"),
    ...(own.has("assessmentsEnabled") ? { assessmentsEnabled: own.flag("assessmentsEnabled") } : {}),
    autoApply: own.flag("autoApply"),
    autoApplyRunTrigger: own.flag("autoApplyRunTrigger"),
    autoDestroyAt: own.instantOrNull("autoDestroyAt"),
    autoDestroyStatus: own.textOrNull("autoDestroyStatus"),
    autoDestroyActivityDuration: own.textOrNull("autoDestroyActivityDuration"),
    inheritsProjectAutoDestroy: own.flag("inheritsProjectAutoDestroy"),
    createdAt: own.instant("createdAt"),
    updatedAt: own.instant("updatedAt"),
    latestChangeAt: own.instant("latestChangeAt"),
    lastAssessmentResultAt: own.instantOrNull("lastAssessmentResultAt"),
    environment: own.text("environment"),
    executionMode: own.oneOf("executionMode", executionModes),
    agentPoolId: related.oneOrNull("agentPool"),
    settingOverwrites: { executionMode: overwrites.flag("executionMode"), agentPool: overwrites.flag("agentPool") },
    fileTriggersEnabled: own.flag("fileTriggersEnabled"),
    globalRemoteState: own.flag("globalRemoteState"),
    projectRemoteState: own.flag("projectRemoteState"),
    lock: decodeLockOf(own, decodeActor(related.identifierOrNull("lockedBy"))),
    oauthClientName: own.textOrNull("oauthClientName"),
    permissions: own.members("permissions").flags(workspacePermissionNames),
    metrics: {
      applyDurationAverageMs: own.numberOrNull("applyDurationAverage"),
      planDurationAverageMs: own.numberOrNull("planDurationAverage"),
      policyCheckFailures: own.numberOrNull("policyCheckFailures"),
      runFailures: own.numberOrNull("runFailures"),
      runsCount: own.numberOrNull("workspaceKpisRunsCount"),
    },
    queueAllRuns: own.flag("queueAllRuns"),
    resourceCount: own.number("resourceCount"),
    source: own.text("source"),
    sourceName: own.textOrNull("sourceName"),
    sourceUrl: own.textOrNull("sourceUrl"),
    speculativeEnabled: own.flag("speculativeEnabled"),
    structuredRunOutputEnabled: own.flag("structuredRunOutputEnabled"),
    tagNames: own.texts("tagNames"),
    engineVersion: own.text("engineVersion"),
    triggerPrefixes: own.texts("triggerPrefixes"),
    triggerPatterns: own.texts("triggerPatterns"),
    vcsRepo: vcsRepo && decodeVcsRepo(vcsRepo),
    workingDirectory: own.textOrNull("workingDirectory"),
    currentConfigurationVersionId: related.oneOrNull("currentConfigurationVersion") as ConfigurationVersionId | null,
    currentRunId: related.oneOrNull("currentRun") as RunId | null,
    currentStateVersionId: related.oneOrNull("currentStateVersion") as StateVersionId | null,
    currentAssessmentResultId: related.oneOrNull("currentAssessmentResult"),
    outputIds: related.many("outputs"),
    readmeId: related.oneOrNull("readme"),
    sshKeyId: related.oneOrNull("sshKey"),
    variableIds: related.many("vars"),
    retentionPolicy: related.hasRelationship("dataRetentionPolicy")
      ? decodeRetention(related.identifierOrNull("dataRetentionPolicy"))
      : null,
  }
}

function decodeLockOf(own: MembersReader, by: Actor | null): Lock {
  if (by === null) return { held: false }
  return {
    held: true,
    by,
    reason: own.text("lockedReason"),
    since: own.instant("lockedAt"),
    ...(own.has("lockedUntil")
      ? { end: { at: own.instant("lockedUntil"), ttlMs: own.number("lockTtl") * secondMs } }
      : {}),
  }
}

const decodeVcsRepo = (repo: MembersReader): VcsRepoView => ({
  branch: repo.text("branch"),
  identifier: repo.text("identifier"),
  ingressSubmodules: repo.flag("ingressSubmodules"),
  oauthTokenId: repo.text("oauthTokenId") || null,
  githubAppInstallationId: repo.text("githubAppInstallationId") || null,
  repositoryHttpUrl: repo.text("repositoryHttpUrl") || null,
  serviceProvider: repo.text("serviceProvider") || null,
  tagsRegex: repo.text("tagsRegex") || null,
})

function decodeRetention(
  policy: { readonly type: string; readonly id: string } | null,
): WorkspaceView["retentionPolicy"] {
  if (policy === null) return null
  return { id: policy.id, kind: policy.type === retentionTypes["dont-delete"] ? "dont-delete" : "delete-older" }
}

export const encodeLock = ({ reason, ttlMs }: LockInput) => ({ reason, ...encodeTtl(ttlMs) })
export const encodeLockExtension = ({ ttlMs }: LockExtension) => encodeTtl(ttlMs)

/** What is no number would be written as null, which means a lock without an end; 0 is refused as it would be. */
const encodeTtl = (ttlMs: number | undefined): { readonly ttl?: number } =>
  ttlMs === undefined ? {} : { ttl: Number.isFinite(ttlMs) ? ttlMs / secondMs : 0 }

const optionalInstant = (instant: Instant | null) => (instant === null ? null : formatInstant(instant))
const related = (id: string | null, type: string) => ({ related: id === null ? null : `/api/v2/${type}/${id}` })

/** All members but one boolean are strings; an absent value is empty. */
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
  // No VCS events are received, so there is no address to receive them at.
  "webhook-url": "",
})

/** Seconds, or a duration such as `15m`. */
const ttlSchema = z
  .union([z.number(), z.string()])
  .transform((ttl, context) => {
    const ttlMs = typeof ttl === "number" ? ttl * secondMs : parseDuration(ttl)
    if (ttlMs !== undefined) return ttlMs
    context.addIssue('must be a number of seconds or a duration such as "90s" or "15m"')
    return z.NEVER
  })
  .nullish()
export const lockShape = { reason: z.string().nullish(), ttl: ttlSchema }
const lockSchema = z.object({ data: z.object({ attributes: z.object(lockShape).nullish() }).nullish(), ...lockShape })

/**
 * Decodes a lock request: a bare `{ reason, ttl }` or a JSON:API document (docs/compatibility.md, "Locking"). Without a body, the reason
 * is empty and the lock does not expire.
 */
export function decodeLock(body: unknown): LockInput {
  if (body === undefined) return { reason: "" }
  const { data, reason, ttl } = decodeBody(body, lockSchema)
  return { reason: data?.attributes?.reason ?? reason ?? "", ...ttlOf(data?.attributes?.ttl ?? ttl) }
}

/** Documents as for `decodeLock`; no body, and no `ttl`, means as long again as before. */
export function decodeLockExtension(body: unknown): LockExtension {
  if (body === undefined) return {}
  const { data, ttl } = decodeBody(body, lockSchema)
  return ttlOf(data?.attributes?.ttl ?? ttl)
}

export const ttlOf = (ttlMs: number | null | undefined): { readonly ttlMs?: number } =>
  ttlMs === null || ttlMs === undefined ? {} : { ttlMs }

// From a Workspace's spec to the words that the engine's managed kinds have, and back to the spec's for what is told. Pure.
import type { WorkspaceSpec } from "@chancery/engine/declared"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"

/** What the spec names by a name, by its id. */
export interface ResolvedIds {
  readonly projectId?: string
  readonly agentPoolId?: string
  readonly sshKeyId?: string
  readonly remoteStateConsumerIds?: readonly string[]
}

export interface DesiredWorkspace {
  readonly organization: string
  readonly name: string
  readonly ids: ResolvedIds
}

/** Members that are called the same on both sides. */
const plain = [
  "description",
  "workingDirectory",
  "engineVersion",
  "executionMode",
  "settingOverwrites",
  "autoApply",
  "autoApplyRunTrigger",
  "allowDestroyPlan",
  "queueAllRuns",
  "speculativeEnabled",
  "fileTriggersEnabled",
  "structuredRunOutputEnabled",
  "assessmentsEnabled",
  "globalRemoteState",
  "projectRemoteState",
  "triggerPatterns",
  "triggerPrefixes",
] as const satisfies readonly (keyof WorkspaceObjectSpec & keyof WorkspaceSpec)[]

/** Where the engine's word for a member is none of the spec's. */
const fields: Readonly<Record<string, string>> = {
  projectId: "project",
  agentPoolId: "agentPool",
  autoDestroyAt: "autoDestroy.at",
  autoDestroyActivityDuration: "autoDestroy.activityDuration",
  inheritsProjectAutoDestroy: "autoDestroy.inherit",
}

export const fieldOf = (member: string): string => fields[member] ?? member

/** The settings of the workspace itself; tags, bindings, consumers and the rest are kinds of their own. */
export function desiredSettings(
  spec: WorkspaceObjectSpec,
  { organization, name, ids }: DesiredWorkspace,
): WorkspaceSpec {
  const { vcsRepo, autoDestroy } = spec
  return {
    organization,
    name,
    ...given(plain.map((member) => [member, spec[member]] as const)),
    ...given([
      ["projectId", ids.projectId],
      ["agentPoolId", ids.agentPoolId],
      ["autoDestroyAt", autoDestroy?.at],
      ["autoDestroyActivityDuration", autoDestroy?.activityDuration],
      ["inheritsProjectAutoDestroy", autoDestroy?.inherit],
      ["vcsRepo", vcsRepo === undefined ? undefined : repoOf(vcsRepo)],
    ]),
  }
}

const repoOf = ({ identifier, ...repo }: NonNullable<WorkspaceObjectSpec["vcsRepo"]>) => ({
  identifier,
  ...given([
    ["branch", repo.branch],
    ["oauthTokenId", repo.oauthTokenID],
    ["githubAppInstallationId", repo.githubAppInstallationID],
    ["ingressSubmodules", repo.ingressSubmodules],
    ["tagsRegex", repo.tagsRegex],
  ]),
})

const given = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined))

export interface Applied {
  readonly fields?: readonly string[]
  readonly tags?: readonly string[]
  readonly tagBindings?: readonly string[]
  readonly remoteStateConsumers?: readonly string[]
}

/** Fields that are taken back when the spec no longer has them; all others stay as they are then. */
const takenBack = ["vcsRepo", "autoDestroy", "sshKey", "dataRetentionPolicy", "lock"] as const

/** What this spec brings into a workspace. */
export function appliedOf(spec: WorkspaceObjectSpec, ids: ResolvedIds): Applied {
  return {
    ...list(
      "fields",
      takenBack.filter((field) => spec[field] !== undefined),
    ),
    ...list("tags", spec.tags ?? []),
    ...list(
      "tagBindings",
      (spec.tagBindings ?? []).map(({ key }) => key),
    ),
    ...list("remoteStateConsumers", ids.remoteStateConsumerIds ?? []),
  }
}

const list = (name: keyof Applied, items: readonly string[]): Applied => (items.length === 0 ? {} : { [name]: items })

export const wasDropped = (field: (typeof takenBack)[number], spec: WorkspaceObjectSpec, applied: Applied): boolean =>
  spec[field] === undefined && applied.fields?.includes(field) === true

/** In the words of the settings' managed kind. */
export const droppedSettings = (spec: WorkspaceObjectSpec, applied: Applied): readonly string[] => [
  ...(wasDropped("vcsRepo", spec, applied) ? ["vcsRepo"] : []),
  ...(wasDropped("autoDestroy", spec, applied) ? ["autoDestroyAt", "autoDestroyActivityDuration"] : []),
]

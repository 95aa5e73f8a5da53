// Translates a Workspace's spec into the members of the engine's declared kinds, and members back into fields of the spec. Pure functions.
import type { WorkspaceSpec } from "@chancery/engine/declared"
import type { WorkspaceObjectSpec } from "../../api/workspace.ts"

/** Ids of objects that the spec references by name. */
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

/** Members with the same name in both. */
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

/** Fields of the spec for members with another name. */
const fields: Readonly<Record<string, string>> = {
  projectId: "project",
  agentPoolId: "agentPool",
  autoDestroyAt: "autoDestroy.at",
  autoDestroyActivityDuration: "autoDestroy.activityDuration",
  inheritsProjectAutoDestroy: "autoDestroy.inherit",
}

export const fieldOf = (member: string): string => fields[member] ?? member

/** Returns the settings of the workspace itself. Tags, bindings, remote state consumers and others have their own declared kinds. */
export function desiredSettings(
  spec: WorkspaceObjectSpec,
  { organization, name, ids }: DesiredWorkspace,
): WorkspaceSpec {
  const { vcsRepo, autoDestroy } = spec
  return {
    organization,
    name,
    ...definedMembers(plain.map((member) => [member, spec[member]] as const)),
    ...definedMembers([
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
  ...definedMembers([
    ["branch", repo.branch],
    ["oauthTokenId", repo.oauthTokenID],
    ["githubAppInstallationId", repo.githubAppInstallationID],
    ["ingressSubmodules", repo.ingressSubmodules],
    ["tagsRegex", repo.tagsRegex],
  ]),
})

const definedMembers = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined))

export interface Applied {
  readonly fields?: readonly string[]
  readonly tags?: readonly string[]
  readonly tagBindings?: readonly string[]
  readonly remoteStateConsumers?: readonly string[]
}

/** Fields that are reset when they are removed from the spec. Other removed fields keep their value. */
const takenBack = ["vcsRepo", "autoDestroy", "sshKey", "dataRetentionPolicy", "lock"] as const

/** Returns what this spec sets in a workspace, for the status. */
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

/** Returns the settings to reset, by their names in the declared kind. */
export const droppedSettings = (spec: WorkspaceObjectSpec, applied: Applied): readonly string[] => [
  ...(wasDropped("vcsRepo", spec, applied) ? ["vcsRepo"] : []),
  ...(wasDropped("autoDestroy", spec, applied) ? ["autoDestroyAt", "autoDestroyActivityDuration"] : []),
]

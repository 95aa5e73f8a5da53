// Written by provider/scripts/write-resources.ts; do not edit.
import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "../lifecycle/lifecycle-args.ts"
import { declaredResource, type ResourceClass } from "../dynamic/pulumi-resource.ts"

/** A connected repository. */
export interface VcsRepoArgs {
  /** Repository as `organization/name`, or as the VCS provider writes it. */
  identifier: pulumi.Input<string>
  /** Token of the OAuth connection. Exactly one of this and `githubAppInstallationId` is required. */
  oauthTokenId?: pulumi.Input<string>
  /** GitHub App installation that connects the repository. */
  githubAppInstallationId?: pulumi.Input<string>
  /** Branch to read. Default: the default branch of the repository. */
  branch?: pulumi.Input<string>
  /** Fetch submodules with the repository. Default: false. */
  ingressSubmodules?: pulumi.Input<boolean>
  /** Regular expression of Git tags that start runs, such as `^v\d+`. */
  tagsRegex?: pulumi.Input<string>
}

/** A connected repository. */
export interface VcsRepoState {
  /** Repository as `organization/name`, or as the VCS provider writes it. */
  readonly identifier: string
  /** Token of the OAuth connection. Exactly one of this and `githubAppInstallationId` is required. */
  readonly oauthTokenId?: string | undefined
  /** GitHub App installation that connects the repository. */
  readonly githubAppInstallationId?: string | undefined
  /** Branch to read. Default: the default branch of the repository. */
  readonly branch?: string | undefined
  /** Fetch submodules with the repository. Default: false. */
  readonly ingressSubmodules?: boolean | undefined
  /** Regular expression of Git tags that start runs, such as `^v\d+`. */
  readonly tagsRegex?: string | undefined
}

/**
 * Settings of a workspace. A setting that the program never declared is not managed and may be changed elsewhere. A setting
 * removed from the program returns to its default, except `projectId`, `engineVersion` and `globalRemoteState`, which stay.
 */
export interface WorkspaceArgs extends LifecycleArgs {
  /** Organization that owns the workspace. Default: `chancery:organization`. Changing it forces replacement. */
  organization?: pulumi.Input<string>
  /** Name: letters, digits, `-` and `_`, at most 90 characters. Default: the resource's name in the program. */
  name?: pulumi.Input<string>
  /** Project of the workspace. Changing it moves the workspace. Default: the organization's default project. */
  projectId?: pulumi.Input<string>
  /** Description for people. */
  description?: pulumi.Input<string | null>
  /** Where runs execute: `remote`, `local` or `agent`. Default: inherited from the project or organization. */
  executionMode?: pulumi.Input<"remote" | "local" | "agent">
  /** Agent pool of the runs. Requires `executionMode: "agent"`. */
  agentPoolId?: pulumi.Input<string | null>
  /** Settings that the workspace overrides (`true`) or inherits (`false`). Default: `true` for each setting that is declared. */
  settingOverwrites?: pulumi.Input<{ executionMode?: pulumi.Input<boolean>; agentPool?: pulumi.Input<boolean> }>
  /** Allow destroy plans to be queued. Default: true. */
  allowDestroyPlan?: pulumi.Input<boolean>
  /** Run health assessments. Default: false. Only in the hosted edition. */
  assessmentsEnabled?: pulumi.Input<boolean>
  /** Apply successful plans without confirmation. Default: false. */
  autoApply?: pulumi.Input<boolean>
  /** Apply runs that a run trigger started without confirmation. Default: false. */
  autoApplyRunTrigger?: pulumi.Input<boolean>
  /** Time of an automatic destroy run (ISO 8601). */
  autoDestroyAt?: pulumi.Input<string | null>
  /** Inactivity before an automatic destroy run: 1 to 9999 days or hours, such as `14d` or `24h`. */
  autoDestroyActivityDuration?: pulumi.Input<string | null>
  /** Inherit `autoDestroyActivityDuration` from the project. Default: true. */
  inheritsProjectAutoDestroy?: pulumi.Input<boolean>
  /** Start runs only when files below the working directory or the trigger paths change. Default: true. */
  fileTriggersEnabled?: pulumi.Input<boolean>
  /** Let every workspace of the organization read the state. The default depends on the edition. */
  globalRemoteState?: pulumi.Input<boolean>
  /** Let every workspace of the project read the state. Excludes `globalRemoteState`. Default: false. */
  projectRemoteState?: pulumi.Input<boolean>
  /** Queue runs before the first configuration was uploaded. Default: false. */
  queueAllRuns?: pulumi.Input<boolean>
  /** Run speculative plans for pull requests. Default: true. */
  speculativeEnabled?: pulumi.Input<boolean>
  /** Show structured output of runs. Default: true. */
  structuredRunOutputEnabled?: pulumi.Input<boolean>
  /** Version of Terraform or OpenTofu: a version, a constraint such as `~> 1.9`, or `latest`. */
  engineVersion?: pulumi.Input<string>
  /** Glob patterns of files whose changes start runs. Excludes `triggerPrefixes`. */
  triggerPatterns?: pulumi.Input<pulumi.Input<string>[]>
  /** Folders whose changes start runs. Excludes `triggerPatterns`. */
  triggerPrefixes?: pulumi.Input<pulumi.Input<string>[]>
  /** Repository of the configuration. `null`, or removal from the program, disconnects it. */
  vcsRepo?: pulumi.Input<VcsRepoArgs | null>
  /** Folder of the configuration, relative to the root of the repository. */
  workingDirectory?: pulumi.Input<string | null>
  /**
   * Every key-value tag of the workspace, at most ten, together with `chancery:defaultTagBindings`. Tags of other owners stay
   * (docs/tag-owners.md). Leave it out if `TagBindings` resources declare the tags of this workspace.
   */
  tagBindings?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** Adopt an existing workspace of this name. Destroying the stack then keeps it unless `deletionPolicy` is set. */
  adopt?: pulumi.Input<boolean>
}

/** Outputs of a workspace: every setting in force. */
export interface WorkspaceState extends Adopted {
  /** Organization that owns the workspace. */
  readonly organization: string
  /** Name: letters, digits, `-` and `_`, at most 90 characters. */
  readonly name: string
  /** Project of the workspace. Changing it moves the workspace. */
  readonly projectId: string
  /** Description for people. */
  readonly description: string | null
  /** Where runs execute: `remote`, `local` or `agent`. */
  readonly executionMode: "remote" | "local" | "agent"
  /** Agent pool of the runs. Requires `executionMode: "agent"`. */
  readonly agentPoolId: string | null
  /** Settings that the workspace overrides (`true`) or inherits (`false`). */
  readonly settingOverwrites: { readonly executionMode?: boolean | undefined; readonly agentPool?: boolean | undefined }
  /** Allow destroy plans to be queued. */
  readonly allowDestroyPlan: boolean
  /** Run health assessments. */
  readonly assessmentsEnabled: boolean
  /** Apply successful plans without confirmation. */
  readonly autoApply: boolean
  /** Apply runs that a run trigger started without confirmation. */
  readonly autoApplyRunTrigger: boolean
  /** Time of an automatic destroy run (ISO 8601). */
  readonly autoDestroyAt: string | null
  /** Inactivity before an automatic destroy run: 1 to 9999 days or hours, such as `14d` or `24h`. */
  readonly autoDestroyActivityDuration: string | null
  /** Inherit `autoDestroyActivityDuration` from the project. */
  readonly inheritsProjectAutoDestroy: boolean
  /** Start runs only when files below the working directory or the trigger paths change. */
  readonly fileTriggersEnabled: boolean
  /** Let every workspace of the organization read the state. The default depends on the edition. */
  readonly globalRemoteState: boolean
  /** Let every workspace of the project read the state. Excludes `globalRemoteState`. */
  readonly projectRemoteState: boolean
  /** Queue runs before the first configuration was uploaded. */
  readonly queueAllRuns: boolean
  /** Run speculative plans for pull requests. */
  readonly speculativeEnabled: boolean
  /** Show structured output of runs. */
  readonly structuredRunOutputEnabled: boolean
  /** Version of Terraform or OpenTofu: a version, a constraint such as `~> 1.9`, or `latest`. */
  readonly engineVersion: string
  /** Glob patterns of files whose changes start runs. Excludes `triggerPrefixes`. */
  readonly triggerPatterns: string[]
  /** Folders whose changes start runs. Excludes `triggerPatterns`. */
  readonly triggerPrefixes: string[]
  /** Repository of the configuration. `null`, or removal from the program, disconnects it. */
  readonly vcsRepo: VcsRepoState | null
  /** Folder of the configuration, relative to the root of the repository. */
  readonly workingDirectory: string | null
  /**
   * Every key-value tag of the workspace, at most ten, together with `chancery:defaultTagBindings`. Tags of other owners stay
   * (docs/tag-owners.md). Leave it out if `TagBindings` resources declare the tags of this workspace.
   */
  readonly tagBindings?: Readonly<Record<string, string>>
  /** Time of creation (ISO 8601). */
  readonly createdAt: string
}

/** A workspace. Its id is `ws-…` and stays when the workspace is renamed or moved. */
export const Workspace: ResourceClass<WorkspaceArgs, WorkspaceState> = declaredResource<WorkspaceArgs, WorkspaceState>({
  kind: "workspace",
  outputs: ["organization", "name", "projectId", "description", "executionMode", "agentPoolId", "settingOverwrites", "allowDestroyPlan", "assessmentsEnabled", "autoApply", "autoApplyRunTrigger", "autoDestroyAt", "autoDestroyActivityDuration", "inheritsProjectAutoDestroy", "fileTriggersEnabled", "globalRemoteState", "projectRemoteState", "queueAllRuns", "speculativeEnabled", "structuredRunOutputEnabled", "engineVersion", "triggerPatterns", "triggerPrefixes", "vcsRepo", "workingDirectory", "tagBindings", "createdAt", "adopted"],
  named: "name",
})
export type Workspace = InstanceType<typeof Workspace>

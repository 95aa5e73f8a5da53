import type * as pulumi from "@pulumi/pulumi"
import type { Adopted, LifecycleArgs } from "./lifecycle-args.ts"
import type { Resolved } from "./resolved.ts"
import { declaredResource, type ResourceClass } from "./pulumi-resource.ts"

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
  /** Regular expression of Git tags that start runs, such as `^v\\d+`. */
  tagsRegex?: pulumi.Input<string>
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
  /** Project of the workspace. Default: the organization's default project. Changing it moves the workspace. */
  projectId?: pulumi.Input<string>
  /** Description for people. */
  description?: pulumi.Input<string | null>
  /** Where runs execute: `remote`, `local` or `agent`. Default: inherited from the project or organization. */
  executionMode?: pulumi.Input<"remote" | "local" | "agent">
  /** Agent pool of the runs. Requires `executionMode: "agent"`. */
  agentPoolId?: pulumi.Input<string | null>
  /** Settings of its own (`true`) or inherited (`false`). Default: `true` for each setting that is declared. */
  settingOverwrites?: pulumi.Input<{ executionMode?: pulumi.Input<boolean>; agentPool?: pulumi.Input<boolean> }>
  /** Allow destroy plans to be queued. Default: true. */
  allowDestroyPlan?: pulumi.Input<boolean>
  /** Run health assessments (hosted edition only). Default: false. */
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

/** A connected repository. */
export interface VcsRepoState {
  /** Repository as `organization/name`, or as the VCS provider writes it. */
  readonly identifier: string
  /** Token of the OAuth connection. */
  readonly oauthTokenId?: string | undefined
  /** GitHub App installation that connects the repository. */
  readonly githubAppInstallationId?: string | undefined
  /** Branch to read. Undefined: the default branch of the repository. */
  readonly branch?: string | undefined
  /** Submodules are fetched with the repository. */
  readonly ingressSubmodules?: boolean | undefined
  /** Regular expression of Git tags that start runs. */
  readonly tagsRegex?: string | undefined
}

/** Outputs of a workspace: every setting in force. */
export interface WorkspaceState
  extends
    Resolved<Omit<WorkspaceArgs, keyof LifecycleArgs | "adopt" | "settingOverwrites" | "vcsRepo" | "tagBindings">>,
    Adopted {
  /** Settings of its own (`true`) or inherited (`false`). */
  readonly settingOverwrites: {
    readonly executionMode?: boolean | undefined
    readonly agentPool?: boolean | undefined
  }
  /** Repository of the configuration. Null if none is connected. */
  readonly vcsRepo: VcsRepoState | null
  /** Key-value tags of the workspace. Undefined if the program does not declare any. */
  readonly tagBindings?: Readonly<Record<string, string>>
  /** Time of creation (ISO 8601). */
  readonly createdAt: string
}

const outputs = [
  "organization",
  "name",
  "projectId",
  "description",
  "executionMode",
  "agentPoolId",
  "settingOverwrites",
  "allowDestroyPlan",
  "assessmentsEnabled",
  "autoApply",
  "autoApplyRunTrigger",
  "autoDestroyAt",
  "autoDestroyActivityDuration",
  "inheritsProjectAutoDestroy",
  "fileTriggersEnabled",
  "globalRemoteState",
  "projectRemoteState",
  "queueAllRuns",
  "speculativeEnabled",
  "structuredRunOutputEnabled",
  "engineVersion",
  "triggerPatterns",
  "triggerPrefixes",
  "vcsRepo",
  "workingDirectory",
  "tagBindings",
  "createdAt",
  "adopted",
] as const satisfies readonly (keyof WorkspaceState)[]

/** A workspace. Its id is `ws-…` and stays when the workspace is renamed or moved. */
export const Workspace: ResourceClass<WorkspaceArgs, WorkspaceState> = declaredResource<WorkspaceArgs, WorkspaceState>({
  kind: "workspace",
  outputs,
  named: "name",
})
export type Workspace = InstanceType<typeof Workspace>

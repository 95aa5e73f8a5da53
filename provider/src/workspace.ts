import type * as pulumi from "@pulumi/pulumi"
import type { ObservedWorkspace } from "@chancery/engine/managed"
import type { LifeArgs } from "./life-args.ts"
import { declaredResource, gettable } from "./shell.ts"

export interface VcsRepoArgs {
  /** `:org/:repo`, or as the service writes it. */
  identifier: pulumi.Input<string>
  /** Of the connection through OAuth; exactly one of this and `githubAppInstallationId`. */
  oauthTokenId?: pulumi.Input<string>
  githubAppInstallationId?: pulumi.Input<string>
  /** The repository's default branch when left out or empty. */
  branch?: pulumi.Input<string>
  ingressSubmodules?: pulumi.Input<boolean>
  tagsRegex?: pulumi.Input<string>
}

/**
 * A setting that was never declared is not managed: it may be changed elsewhere. One that is declared no longer goes back to
 * what a new workspace has, except `projectId`, `engineVersion` and `globalRemoteState`, which stay.
 */
export interface WorkspaceArgs extends LifeArgs {
  /** `chancery:organization` when left out. Another one makes another workspace. */
  organization?: pulumi.Input<string>
  /** The resource's name in the program when left out. Letters, digits, `-` and `_`, at most 90. Another one renames it. */
  name?: pulumi.Input<string>
  /** The organization's default project when left out at first. Another one moves the workspace there. */
  projectId?: pulumi.Input<string>
  description?: pulumi.Input<string | null>
  /** That of the project or organization when left out. */
  executionMode?: pulumi.Input<"remote" | "local" | "agent">
  /** With `executionMode: "agent"` only. */
  agentPoolId?: pulumi.Input<string | null>
  /** False takes the value of the project or organization; left out, what is declared is the workspace's own. */
  settingOverwrites?: pulumi.Input<{ executionMode?: pulumi.Input<boolean>; agentPool?: pulumi.Input<boolean> }>
  /** True when left out. */
  allowDestroyPlan?: pulumi.Input<boolean>
  /** Of the hosted edition. */
  assessmentsEnabled?: pulumi.Input<boolean>
  autoApply?: pulumi.Input<boolean>
  autoApplyRunTrigger?: pulumi.Input<boolean>
  /** ISO 8601. */
  autoDestroyAt?: pulumi.Input<string | null>
  /** 1 to 9999 hours or days without activity: `14d`, `24h`. */
  autoDestroyActivityDuration?: pulumi.Input<string | null>
  inheritsProjectAutoDestroy?: pulumi.Input<boolean>
  /** True when left out. */
  fileTriggersEnabled?: pulumi.Input<boolean>
  /** The default differs by edition. */
  globalRemoteState?: pulumi.Input<boolean>
  /** Whether the other workspaces of the project may read the state; excludes `globalRemoteState`. */
  projectRemoteState?: pulumi.Input<boolean>
  queueAllRuns?: pulumi.Input<boolean>
  /** True when left out. */
  speculativeEnabled?: pulumi.Input<boolean>
  /** True when left out. */
  structuredRunOutputEnabled?: pulumi.Input<boolean>
  /** A version, a constraint such as `~> 1.9`, or `latest`. */
  engineVersion?: pulumi.Input<string>
  /** Excludes `triggerPrefixes`. */
  triggerPatterns?: pulumi.Input<pulumi.Input<string>[]>
  triggerPrefixes?: pulumi.Input<pulumi.Input<string>[]>
  /** Null takes it away, as leaving it out does where it was declared before. */
  vcsRepo?: pulumi.Input<VcsRepoArgs | null>
  /** Relative, inside the repository. */
  workingDirectory?: pulumi.Input<string | null>
  /**
   * All key-value tags it has, at most ten, but for those that other owners hold (docs/tag-owners.md); with `chancery:defaultTagBindings`. Leave it out where `TagBindings` declares them: those of
   * the configuration then stand beside them.
   */
  tagBindings?: pulumi.Input<Readonly<Record<string, pulumi.Input<string>>>>
  /** Takes over a workspace of this name that is there already; it is left there at the end, unless `deletionPolicy` says more. */
  adopt?: pulumi.Input<boolean>
}

/** What a state has of a workspace: every setting as it is in force. */
export type WorkspaceState = ObservedWorkspace & {
  /** It was there before, and was taken over. */
  readonly adopted: boolean
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

/** A workspace (specification 4.2 to 4.6). Its id is `ws-…`, and stays when it is renamed or moved. */
export const Workspace = gettable(
  declaredResource<WorkspaceArgs, WorkspaceState>({
    kind: "workspace",
    outputs,
    named: "name",
  }),
)
export type Workspace = InstanceType<typeof Workspace>

import type { Runtime } from "@chancery/engine"
import type { Values } from "@chancery/engine/managed/shared"
import {
  type ObservedWorkspace,
  dataRetentionPolicyKind,
  projectKind,
  remoteStateConsumersKind,
  sshKeyAssignmentKind,
  tagBindingsKind,
  tagKind,
  type ObservedVariable,
  variableKind,
  workspaceKind,
  workspaceLockKind,
  workspaceTagsKind,
} from "@chancery/engine/managed/workspaces"
import { lifecycleOf } from "./lifecycle.ts"

/** Of the kinds around workspaces. Whatever is due, is so by the clock. */
export const workspaceLifecyclesBy = (clock: Runtime["clock"]) => ({
  workspace: lifecycleOf(
    {
      kind: workspaceKind,
      hostedOnly: ["assessmentsEnabled"],
      asDeclared: ownExecution,
      sight: "workspaces",
      identity: ["organization"],
      adoptable: true,
      inOrganization: true,
      bindingsMember: "tagBindings",
    },
    clock,
  ),
  workspaceTags: lifecycleOf(
    {
      kind: workspaceTagsKind,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  tagBindings: lifecycleOf(
    {
      kind: tagBindingsKind,
      bindingsMember: "bindings",
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  remoteStateConsumers: lifecycleOf(
    {
      kind: remoteStateConsumersKind,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  sshKeyAssignment: lifecycleOf(
    {
      kind: sshKeyAssignmentKind,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  workspaceLock: lifecycleOf(
    {
      kind: workspaceLockKind,
      sight: "workspaces",
      identity: ["workspaceId", "reason"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  dataRetentionPolicy: lifecycleOf(
    {
      kind: dataRetentionPolicyKind,
      selfHostedOnly: true,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  project: lifecycleOf(
    {
      kind: projectKind,
      sight: "projects",
      bindingsMember: "tagBindings",
      identity: ["organization"],
      adoptable: true,
      inOrganization: true,
    },
    clock,
  ),
  variable: lifecycleOf(
    {
      kind: variableKind,
      asDeclared: readableAlone,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: true,
      inOrganization: false,
    },
    clock,
  ),
  tag: lifecycleOf(
    {
      kind: tagKind,
      identity: ["organization", "name"],
      adoptable: true,
      inOrganization: true,
    },
    clock,
  ),
})

/** A mode that is declared is the workspace's own, with its pool. */
function ownExecution(
  { settingOverwrites, ...found }: Values,
  { executionMode, agentPoolId }: ObservedWorkspace,
): Values {
  if (settingOverwrites === undefined) return found
  return { ...found, executionMode, ...(agentPoolId === null ? {} : { agentPoolId }) }
}

/** A value that nobody can read is whatever it is. */
function readableAlone({ value, ...found }: Values, { sensitive }: ObservedVariable): Values {
  return value === undefined || sensitive ? found : { ...found, value }
}

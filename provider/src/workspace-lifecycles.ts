import type { Runtime } from "@chancery/engine"
import type { Values } from "@chancery/engine/declared/shared"
import {
  type ObservedWorkspace,
  dataRetentionPolicyResource,
  projectResource,
  remoteStateConsumersResource,
  sshKeyAssignmentResource,
  tagBindingsResource,
  tagResource,
  type ObservedVariable,
  variableResource,
  workspaceResource,
  workspaceLockResource,
  workspaceTagsResource,
} from "@chancery/engine/declared/workspaces"
import { lifecycleOf } from "./lifecycle.ts"

/** Of the kinds around workspaces. Whatever is due, is so by the clock. */
export const workspaceLifecyclesBy = (clock: Runtime["clock"]) => ({
  workspace: lifecycleOf(
    {
      kind: workspaceResource,
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
      kind: workspaceTagsResource,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  tagBindings: lifecycleOf(
    {
      kind: tagBindingsResource,
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
      kind: remoteStateConsumersResource,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  sshKeyAssignment: lifecycleOf(
    {
      kind: sshKeyAssignmentResource,
      sight: "workspaces",
      identity: ["workspaceId"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  workspaceLock: lifecycleOf(
    {
      kind: workspaceLockResource,
      sight: "workspaces",
      identity: ["workspaceId", "reason"],
      adoptable: false,
      inOrganization: false,
    },
    clock,
  ),
  dataRetentionPolicy: lifecycleOf(
    {
      kind: dataRetentionPolicyResource,
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
      kind: projectResource,
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
      kind: variableResource,
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
      kind: tagResource,
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

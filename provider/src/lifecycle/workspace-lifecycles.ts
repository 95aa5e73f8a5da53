import type { Runtime } from "@chancery/engine"
import type { Values } from "@chancery/engine/declared/shared"
import * as resources from "@chancery/engine/declared/workspaces"
import { lifecycleOf } from "./lifecycle.ts"

const visibility = "workspaces"

/** Returns the lifecycles of workspaces and their parts. Times are compared with `clock`. */
export const workspaceLifecyclesBy = (clock: Runtime["clock"]) => ({
  workspace: lifecycleOf(resources.workspaceResource, clock, {
    visibility,
    bindingsMember: "tagBindings",
    asDeclared: ownExecution,
  }),
  workspaceTags: lifecycleOf(resources.workspaceTagsResource, clock, { visibility }),
  tagBindings: lifecycleOf(resources.tagBindingsResource, clock, { visibility, bindingsMember: "bindings" }),
  remoteStateConsumers: lifecycleOf(resources.remoteStateConsumersResource, clock, { visibility }),
  sshKeyAssignment: lifecycleOf(resources.sshKeyAssignmentResource, clock, { visibility }),
  workspaceLock: lifecycleOf(resources.workspaceLockResource, clock, { visibility }),
  dataRetentionPolicy: lifecycleOf(resources.dataRetentionPolicyResource, clock, { visibility, selfHostedOnly: true }),
  project: lifecycleOf(resources.projectResource, clock, { visibility: "projects", bindingsMember: "tagBindings" }),
  variable: lifecycleOf(resources.variableResource, clock, { visibility, asDeclared: readableAlone }),
  tag: lifecycleOf(resources.tagResource, clock),
})

/** Returns a workspace's own execution mode with its agent pool, in place of the setting overwrites. */
function ownExecution(
  { settingOverwrites, ...found }: Values,
  { executionMode, agentPoolId }: resources.ObservedWorkspace,
): Values {
  if (settingOverwrites === undefined) return found
  return { ...found, executionMode, ...(agentPoolId === null ? {} : { agentPoolId }) }
}

/** Omits the value of a sensitive variable, because it cannot be read. */
function readableAlone({ value, ...found }: Values, { sensitive }: resources.ObservedVariable): Values {
  return value === undefined || sensitive ? found : { ...found, value }
}

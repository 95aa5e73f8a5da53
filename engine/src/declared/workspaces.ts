// Resources of workspaces: re-exports only.
export {
  dataRetentionPolicyResource,
  type DataRetentionPolicySpec,
  type ObservedDataRetentionPolicy,
} from "./data-retention-policy.ts"
export { concerning, foldedKeys } from "./owned-tags.ts"
export { type ObservedProject, projectResource, type ProjectSpec } from "./project.ts"
export {
  type ObservedRemoteStateConsumers,
  remoteStateConsumersResource,
  type RemoteStateConsumersSpec,
} from "./remote-state-consumers.ts"
export { sshKeyAssignmentResource, type SshKeyAssignmentSpec } from "./ssh-key-assignment.ts"
export { type ObservedTag, tagResource, type TagSpec } from "./tag.ts"
export {
  observedTagBindings,
  type ObservedTagBindings,
  tagBindingsResource,
  type TagBindingsSpec,
} from "./tag-bindings.ts"
export { type ObservedVariable, observedVariable, variableResource, type VariableSpec } from "./variable.ts"
export { type ObservedWorkspace, observedWorkspace, workspaceResource, type WorkspaceSpec } from "./workspace.ts"
export { type ObservedWorkspaceLock, workspaceLockResource, type WorkspaceLockSpec } from "./workspace-lock.ts"
export {
  observedWorkspaceTags,
  type ObservedWorkspaceTags,
  workspaceTagsResource,
  type WorkspaceTagsSpec,
} from "./workspace-tags.ts"

// The kinds around workspaces: re-exports only.
export {
  dataRetentionPolicyKind,
  type DataRetentionPolicySpec,
  type ObservedDataRetentionPolicy,
} from "./data-retention-policy.ts"
export { concerning, foldedKeys } from "./held-tags.ts"
export { type ObservedProject, projectKind, type ProjectSpec } from "./project.ts"
export {
  type ObservedRemoteStateConsumers,
  remoteStateConsumersKind,
  type RemoteStateConsumersSpec,
} from "./remote-state-consumers.ts"
export { sshKeyAssignmentKind, type SshKeyAssignmentSpec } from "./ssh-key-assignment.ts"
export { type ObservedTag, tagKind, type TagSpec } from "./tag.ts"
export { observedTagBindings, type ObservedTagBindings, tagBindingsKind, type TagBindingsSpec } from "./tag-bindings.ts"
export { type ObservedVariable, observedVariable, variableKind, type VariableSpec } from "./variable.ts"
export { type ObservedWorkspace, observedWorkspace, workspaceKind, type WorkspaceSpec } from "./workspace.ts"
export { type ObservedWorkspaceLock, workspaceLockKind, type WorkspaceLockSpec } from "./workspace-lock.ts"
export {
  observedWorkspaceTags,
  type ObservedWorkspaceTags,
  workspaceTagsKind,
  type WorkspaceTagsSpec,
} from "./workspace-tags.ts"

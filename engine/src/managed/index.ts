// The kinds that programs and manifests declare: re-exports only.
export {
  type Changes,
  type Created,
  type ManagedKind,
  type Origin,
  originMaximum,
  PartlyCreated,
  type Removal,
  type Values,
} from "./managed-kind.ts"
export { type ObservedTag, tagKind, type TagSpec } from "./tag.ts"
export { type ObservedTagBindings, tagBindingsKind, type TagBindingsSpec } from "./tag-bindings.ts"
export { type ObservedWorkspace, workspaceKind, type WorkspaceSpec } from "./workspace.ts"
export { type ObservedWorkspaceTags, workspaceTagsKind, type WorkspaceTagsSpec } from "./workspace-tags.ts"

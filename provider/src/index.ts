// What a program imports: re-exports only.
export type { LifeArgs } from "./life-args.ts"
export { Provider, type ProviderArgs } from "./provider.ts"
export { Tag, type TagArgs, type TagState } from "./tag.ts"
export { TagBindings, type TagBindingsArgs, type TagBindingsState } from "./tag-bindings.ts"
export { type VcsRepoArgs, Workspace, type WorkspaceArgs, type WorkspaceState } from "./workspace.ts"
export { WorkspaceTags, type WorkspaceTagsArgs, type WorkspaceTagsState } from "./workspace-tags.ts"

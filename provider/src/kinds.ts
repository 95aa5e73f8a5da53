// Every kind there is, by the name that states have for it.
import { tagBindingsKind, tagKind, workspaceKind, workspaceTagsKind } from "@chancery/engine/managed"
import { lifecycleOf } from "./lifecycle.ts"

export const lifecycles = {
  workspace: lifecycleOf({
    kind: workspaceKind,
    identity: ["organization"],
    adoptable: true,
    inOrganization: true,
    bindingsMember: "tagBindings",
  }),
  workspaceTags: lifecycleOf({
    kind: workspaceTagsKind,
    identity: ["workspaceId"],
    adoptable: false,
    inOrganization: false,
  }),
  tagBindings: lifecycleOf({
    kind: tagBindingsKind,
    identity: ["workspaceId"],
    adoptable: false,
    inOrganization: false,
  }),
  tag: lifecycleOf({
    kind: tagKind,
    identity: ["organization", "name"],
    adoptable: true,
    inOrganization: true,
  }),
}

export type KindName = keyof typeof lifecycles

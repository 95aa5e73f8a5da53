// Every kind there is, by the name that states have for it.
import {
  dataRetentionPolicyKind,
  pkiMountKind,
  pkiRoleKind,
  projectKind,
  remoteStateConsumersKind,
  sshKeyAssignmentKind,
  tagBindingsKind,
  tagKind,
  workspaceKind,
  workspaceLockKind,
  workspaceTagsKind,
} from "@chancery/engine/managed"
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
  remoteStateConsumers: lifecycleOf({
    kind: remoteStateConsumersKind,
    identity: ["workspaceId"],
    adoptable: false,
    inOrganization: false,
  }),
  sshKeyAssignment: lifecycleOf({
    kind: sshKeyAssignmentKind,
    identity: ["workspaceId"],
    adoptable: false,
    inOrganization: false,
  }),
  workspaceLock: lifecycleOf({
    kind: workspaceLockKind,
    identity: ["workspaceId", "reason"],
    adoptable: false,
    inOrganization: false,
  }),
  dataRetentionPolicy: lifecycleOf({
    kind: dataRetentionPolicyKind,
    identity: ["workspaceId"],
    adoptable: false,
    inOrganization: false,
  }),
  project: lifecycleOf({
    kind: projectKind,
    identity: ["organization"],
    adoptable: true,
    inOrganization: true,
  }),
  tag: lifecycleOf({
    kind: tagKind,
    identity: ["organization", "name"],
    adoptable: true,
    inOrganization: true,
  }),
  pkiMount: lifecycleOf({
    kind: pkiMountKind,
    identity: ["path"],
    adoptable: true,
    inOrganization: false,
  }),
  pkiRole: lifecycleOf({
    kind: pkiRoleKind,
    identity: ["mount", "name"],
    adoptable: true,
    inOrganization: false,
    inMount: true,
  }),
}

export type KindName = keyof typeof lifecycles

// Every kind there is, by the name that states have for it.
import {
  dataRetentionPolicyKind,
  type ObservedWorkspace,
  pkiCertificateKind,
  pkiSignedCertificateKind,
  pkiIntermediateKind,
  pkiIssuerKind,
  pkiRevocationKind,
  pkiMountKind,
  pkiRoleKind,
  projectKind,
  remoteStateConsumersKind,
  sshKeyAssignmentKind,
  systemRuntime,
  tagBindingsKind,
  tagKind,
  type Values,
  workspaceKind,
  workspaceLockKind,
  workspaceTagsKind,
} from "@chancery/engine/managed"
import type { Runtime } from "@chancery/engine"
import { lifecycleOf } from "./lifecycle.ts"

/** Whatever is due, is so by the clock. */
export const lifecyclesBy = (clock: Runtime["clock"]) => ({
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
  tag: lifecycleOf(
    {
      kind: tagKind,
      identity: ["organization", "name"],
      adoptable: true,
      inOrganization: true,
    },
    clock,
  ),
  pkiMount: lifecycleOf(
    {
      kind: pkiMountKind,
      identity: ["path"],
      adoptable: true,
      inOrganization: false,
    },
    clock,
  ),
  pkiRole: lifecycleOf(
    {
      kind: pkiRoleKind,
      identity: ["mount", "name"],
      adoptable: true,
      inOrganization: false,
      inMount: true,
    },
    clock,
  ),
  pkiCertificate: lifecycleOf(
    {
      kind: pkiCertificateKind,
      identity: pkiCertificateKind.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiSignedCertificate: lifecycleOf(
    {
      kind: pkiSignedCertificateKind,
      identity: pkiSignedCertificateKind.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiIntermediate: lifecycleOf(
    {
      kind: pkiIntermediateKind,
      identity: pkiIntermediateKind.identity,
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
    },
    clock,
  ),
  pkiRevocation: lifecycleOf(
    {
      kind: pkiRevocationKind,
      identity: ["mount", "serialNumber", "certificate"],
      adoptable: false,
      inOrganization: false,
      inMount: true,
      endsByItself: true,
      unkept: ["privateKey"],
    },
    clock,
  ),
  pkiIssuer: lifecycleOf(
    {
      kind: pkiIssuerKind,
      identity: ["mount", "kind", "bundle"],
      adoptable: true,
      inOrganization: false,
      inMount: true,
      unkept: ["bundle"],
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

export const lifecycles = lifecyclesBy(systemRuntime().clock)

export type KindName = keyof typeof lifecycles

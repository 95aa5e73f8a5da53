// The kinds that programs and manifests declare: re-exports only.
export {
  dataRetentionPolicyKind,
  type DataRetentionPolicySpec,
  type ObservedDataRetentionPolicy,
} from "./data-retention-policy.ts"
export {
  type Changes,
  type Created,
  type Known,
  type ManagedKind,
  type Origin,
  originMaximum,
  PartlyCreated,
  type Removal,
  type Values,
} from "./managed-kind.ts"
export { type ObservedPkiCertificate, pkiCertificateKind, type PkiCertificateSpec } from "./pki-certificate.ts"
export { pkiIntermediateKind, type PkiIntermediateSpec } from "./pki-intermediate.ts"
export type { ObservedIssuance } from "./pki-issuance.ts"
export { type ObservedPkiMount, pkiMountKind, type PkiMountSpec } from "./pki-mount.ts"
export { type ObservedPkiIssuer, observedPkiIssuer } from "./pki-issuer.ts"
export { pkiIssuerKind } from "./pki-issuer-kind.ts"
export type { ObservedPkiAuthority } from "./pki-issuer-observed.ts"
export type { PkiIssuerSpec } from "./pki-issuer-spec.ts"
export { type ObservedPkiRole, observedPkiRole, pkiRoleKind, type PkiRoleSpec } from "./pki-role.ts"
export { systemRuntime } from "../core/runtime.ts"
export { type ObservedPkiRevocation, pkiRevocationKind, type PkiRevocationSpec } from "./pki-revocation.ts"
export { pkiSignedCertificateKind, type PkiSignedCertificateSpec } from "./pki-signed-certificate.ts"
export { type ObservedProject, projectKind, type ProjectSpec } from "./project.ts"
export {
  type ObservedRemoteStateConsumers,
  remoteStateConsumersKind,
  type RemoteStateConsumersSpec,
} from "./remote-state-consumers.ts"
export { sshKeyAssignmentKind, type SshKeyAssignmentSpec } from "./ssh-key-assignment.ts"
export { type ObservedTag, tagKind, type TagSpec } from "./tag.ts"
export { observedTagBindings, type ObservedTagBindings, tagBindingsKind, type TagBindingsSpec } from "./tag-bindings.ts"
export { type ObservedWorkspace, observedWorkspace, workspaceKind, type WorkspaceSpec } from "./workspace.ts"
export { type ObservedWorkspaceLock, workspaceLockKind, type WorkspaceLockSpec } from "./workspace-lock.ts"
export {
  observedWorkspaceTags,
  type ObservedWorkspaceTags,
  workspaceTagsKind,
  type WorkspaceTagsSpec,
} from "./workspace-tags.ts"

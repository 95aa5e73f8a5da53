// Exports for programs. Re-exports only.
export {
  DataRetentionPolicy,
  type DataRetentionPolicyArgs,
  type DataRetentionPolicyState,
} from "./resources/data-retention-policy.ts"
export type { LifecycleArgs as LifeArgs } from "./lifecycle/lifecycle-args.ts"
export {
  getWorkspace,
  getWorkspaceOutputs,
  listTags,
  listWorkspaces,
  type OutputLookup,
  type TagLookup,
  type WorkspaceLookup,
} from "./lookups.ts"
export {
  type AcmeConfigLookup,
  type EstConfigLookup,
  getAcmeConfig,
  getEstConfig,
  getIssuer,
  getRole,
  type IssuerLookup,
  type RoleLookup,
} from "./pki-lookups.ts"
export { AcmeConfig, type AcmeConfigArgs, type AcmeConfigState } from "./resources/acme-config.ts"
export { AcmeEab, type AcmeEabArgs, type AcmeEabState } from "./resources/acme-eab.ts"
export { AuthMethod, type AuthMethodArgs, type AuthMethodState } from "./resources/auth-method.ts"
export { type AuthMethodLookup, getAuthMethod } from "./auth-lookups.ts"
export {
  CertificateAuthRole,
  type CertificateAuthRoleArgs,
  type CertificateAuthRoleState,
} from "./resources/certificate-auth-role.ts"
export { UserpassUser, type UserpassUserArgs, type UserpassUserState } from "./resources/userpass-user.ts"
export type { AuthorityArgs, IssuanceArgs, NamesArgs, ValidityArgs } from "./lifecycle/certificate-args.ts"
export { PkiCertificate, type PkiCertificateArgs, type PkiCertificateState } from "./resources/pki-certificate.ts"
export {
  type EstAuthenticatorsArgs,
  type EstAuthenticatorsState,
  type EstCertArgs,
  type EstCertState,
  type EstUserpassArgs,
  type EstUserpassState,
  EstConfig,
  type EstConfigArgs,
  type EstConfigState,
} from "./resources/est-config.ts"
export { PkiIntermediate, type PkiIntermediateArgs, type PkiIntermediateState } from "./resources/pki-intermediate.ts"
export { PkiIssuer, type PkiIssuerArgs, type PkiIssuerState } from "./resources/pki-issuer.ts"
export { PkiMount, type PkiMountArgs, type PkiMountState } from "./resources/pki-mount.ts"
export { type PolicyIdentifierArgs, PkiRole, type PkiRoleArgs, type PkiRoleState } from "./resources/pki-role.ts"
export { PkiRevocation, type PkiRevocationArgs, type PkiRevocationState } from "./resources/pki-revocation.ts"
export {
  PkiSignedCertificate,
  type PkiSignedCertificateArgs,
  type PkiSignedCertificateState,
} from "./resources/pki-signed-certificate.ts"
export { Project, type ProjectArgs, type ProjectState } from "./resources/project.ts"
export { Provider, type ProviderArgs } from "./dynamic/provider.ts"
export {
  RemoteStateConsumers,
  type RemoteStateConsumersArgs,
  type RemoteStateConsumersState,
} from "./resources/remote-state-consumers.ts"
export {
  SshKeyAssignment,
  type SshKeyAssignmentArgs,
  type SshKeyAssignmentState,
} from "./resources/ssh-key-assignment.ts"
export { Tag, type TagArgs, type TagState } from "./resources/tag.ts"
export { TagBindings, type TagBindingsArgs, type TagBindingsState } from "./resources/tag-bindings.ts"
export { Variable, type VariableArgs, type VariableState } from "./resources/variable.ts"
export { type VcsRepoArgs, Workspace, type WorkspaceArgs, type WorkspaceState } from "./resources/workspace.ts"
export { WorkspaceLock, type WorkspaceLockArgs, type WorkspaceLockState } from "./resources/workspace-lock.ts"
export { WorkspaceTags, type WorkspaceTagsArgs, type WorkspaceTagsState } from "./resources/workspace-tags.ts"

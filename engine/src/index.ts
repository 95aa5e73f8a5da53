// Public API of the engine: re-exports only.
export { openEngine, type EngineOptions } from "./open.ts"
export type { Discovery } from "./core/discovery.ts"
export type { Engine } from "./engine.ts"
export { parsePermittedAddresses, type PermittedAddresses } from "./client/outgoing/address-guard.ts"
export type { Pace } from "./client/transport.ts"
export {
  EngineError,
  type EngineErrorCode,
  type ErrorFacts,
  type Fault,
  type FieldPath,
  isEngineError,
} from "./core/errors.ts"
export type { Edition } from "./core/edition.ts"
export { type EventKind, eventKinds, type EventSubject, type EventTag } from "./events/feed/event.ts"
export type { EventPage, EventQuery, Events, EventView } from "./events/feed/events.ts"
export { type OrganizationAccess, type OrganizationPermission, organizationPermissions } from "./core/caller.ts"
export { defaultPageSize, firstPage, maximumPageSize, type Page, type PageRequest } from "./core/page.ts"
export type { Log, Runtime } from "./core/runtime.ts"
export type { Instant, InstantOrOffset } from "./core/time.ts"
export type {
  OrganizationMembershipInput,
  OrganizationMembershipView,
} from "./organizations/organization-membership.ts"
export type { OrganizationMembershipFilter, OrganizationMemberships } from "./organizations/organization-membership.ts"
export type { AgentPoolFilter, AgentPoolInput, AgentPools, AgentPoolView } from "./organizations/agent-pool.ts"
export type { ExecutionMode, OrganizationInput, OrganizationPatch, Plan } from "./organizations/organization.ts"
export type { Organizations, OrganizationView } from "./organizations/organization.ts"
export type { ProjectAccess, ProjectAccessPatch } from "./organizations/team-project-access.ts"
export type { ProjectAccessLevel } from "./organizations/project.ts"
export type { ProjectInput, ProjectPatch } from "./organizations/project.ts"
export type {
  CreatedWebhook,
  DeadLetterView,
  WebhookInput,
  WebhookPatch,
  Webhooks,
  WebhookView,
} from "./events/webhooks/webhook.ts"
export type { ProjectFilter, Projects, ProjectView } from "./organizations/project.ts"
export type { SiteSettings, SiteSettingsFamily } from "./organizations/site-settings.ts"
export type { SshKeyInput, SshKeys, SshKeyView } from "./organizations/ssh-key.ts"
export type { TeamProject, TeamProjectInput, TeamProjects } from "./organizations/team-project-access.ts"
export type { TeamInput, TeamPatch, TeamView } from "./organizations/team.ts"
export type { TeamFilter, TeamMember, TeamMembers, Teams } from "./organizations/team.ts"
export type { OrganizationTokenKind, TokenInput } from "./organizations/token.ts"
export type { CreatedToken, Tokens, TokenView } from "./organizations/token.ts"
export type { AccountPatch, UserInput } from "./organizations/user.ts"
export type { Users, UserView } from "./organizations/user.ts"
export type {
  AppInstallationInput,
  AppInstallationView,
  OauthClientInput,
  OauthClientView,
  OauthTokenView,
  ServiceProvider,
} from "./organizations/vcs-connection.ts"
export type { VcsConnections } from "./organizations/vcs-connection.ts"
export type { BlockedKey, BlockedKeySource, KeyDigest } from "./pki/keys/blocked-key.ts"
export type {
  EnrolmentDecisionInput,
  EnrolmentListQuery,
  Enrolments,
  EnrolmentView,
  EnrolmentWithCsr,
} from "./pki/enrolments/enrolment-api.ts"
export type {
  EnrolmentDecider,
  EnrolmentOperation,
  EnrolmentProtocol,
  EnrolmentState,
} from "./pki/enrolments/enrolment.ts"
export type { ImportedCrl } from "./pki/crl/crl-api.ts"
export type { ImportedCertificates } from "./pki/issuance/certificate-api.ts"
export type {
  CertificateInventory,
  MountInventoryEntry,
  MountInventoryPage,
  MountInventoryQuery,
} from "./pki/issuance/certificate-inventory.ts"
export type { BlockedKeyInput, BlockedKeys } from "./pki/keys/blocked-key.ts"
export type { Policies, PolicySubject, PolicyView } from "./access/policies/policy.ts"
export type { ServiceTokenInput } from "./access/service-tokens/service-token.ts"
export type {
  CreatedServiceToken,
  PathCapabilities,
  ServiceTokens,
  ServiceTokenView,
  TokenAnswer,
  TokenRef,
} from "./access/service-tokens/service-token-service.ts"
export type {
  InventoryQuery,
  IssuedCertificate,
  IssueInput,
  SignInput,
  SignIntermediateInput,
} from "./pki/issuance/certificate-api.ts"
export type { IssuerCertificate } from "./pki/issuers/issuer-api.ts"
export type { AppRoleInput, AppRolePart } from "./access/approle/app-role.ts"
export type {
  AppRoleCredentials,
  AppRoleLogins,
  AppRoleMethod,
  AppRoles,
  AppRoleView,
  CreatedSecretId,
  SecretIdRef,
  SecretIds,
} from "./access/approle/app-role-api.ts"
export type { AuthMethodConfig, AuthMethodInput, AuthMethodPatch } from "./access/logins/auth-method.ts"
export type { AuthMethods, AuthMethodView } from "./access/logins/auth-method-api.ts"
export type {
  CertificateLogin,
  CertificateLoginOrigin,
  CertificateLogins,
  RevocationListInput,
  RevocationListView,
} from "./access/certificates/certificate-login-api.ts"
export type { CertificateLoginConfig } from "./access/certificates/certificate-login-config.ts"
export type { CertificateRole, CertificateRoleInput } from "./access/certificates/certificate-role.ts"
export type { ClientCertificate } from "./core/client-certificate.ts"
export type { KubernetesConfig, KubernetesConfigInput } from "./access/kubernetes/kubernetes-config.ts"
export type {
  KubernetesConfigured,
  KubernetesLogin,
  KubernetesLogins,
  SavedKubernetesRole,
} from "./access/kubernetes/kubernetes-login-api.ts"
export type {
  LockedUserQuery,
  LockedUsers,
  LockedUsersOfMethod,
  UserpassCredentials,
  UserpassLogins,
  UserpassMethod,
  UserpassUsers,
} from "./access/userpass/userpass-api.ts"
export type { UserpassPassword, UserpassUser, UserpassUserInput } from "./access/userpass/userpass-user.ts"
export type { UserLockout } from "./access/logins/user-lockout.ts"
export type { KubernetesRole, KubernetesRoleInput } from "./access/kubernetes/kubernetes-role.ts"
export type { SecretId, SecretIdInput } from "./access/approle/secret-id.ts"
export type { TokenTerms } from "./access/logins/token-terms.ts"
export { toDnsName } from "./pki/names/host-names.ts"
export { toMailbox } from "./pki/names/email.ts"
export { formatIpAddress, parseIpAddress } from "./pki/names/ip-address.ts"
export { usagesOfRole } from "./pki/policy/approve.ts"
export { nameConstraintsOf } from "./pki/policy/authority-names.ts"
export type { NameConstraintLists } from "./pki/issuance/authority-request.ts"
export type { MountConfig, MountInput, MountPatch, MountTraits } from "./pki/mounts/mount.ts"
export type { Mounts, MountView } from "./pki/mounts/mount.ts"
export type { Pki } from "./pki/mounts/pki.ts"
export type { PolicyIdentifier, Role, RoleInput } from "./pki/roles/role.ts"
export type { Roles, SavedRole } from "./pki/roles/role.ts"
export type { Binding, EffectiveTagBinding } from "./workspaces/tags/tag-binding.ts"
export type { TagBindingView, TagFilter, TagReference, Tags, TagView } from "./workspaces/tags/tag-api.ts"
export type { AssessmentInput, AssessmentView } from "./workspaces/assessments/assessment.ts"
export type { Assessments } from "./workspaces/assessments/assessment.ts"
export type {
  BulkAction,
  BulkActions,
  BulkRejection,
  BulkRequest,
  BulkResult,
  BulkRun,
} from "./workspaces/bulk/bulk-action.ts"
export type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributes,
  IngressAttributesView,
  Readme,
} from "./workspaces/configuration-versions/configuration-version.ts"
export type { ConfigurationVersions } from "./workspaces/configuration-versions/configuration-version-api.ts"
export type { LockExtension, LockInput } from "./workspaces/lock/lock.ts"
export type {
  CustomAccess,
  WorkspaceAccessLevel,
  WorkspacePermissions,
} from "./workspaces/access/workspace-permissions.ts"
export type { WorkspaceQuery, WorkspaceSortKey } from "./workspaces/workspace/workspace-query.ts"
export type { RemoteStateConsumers } from "./workspaces/state/remote-state-consumers.ts"
export type {
  RetentionPolicies,
  RetentionPolicyView,
  RetentionRule,
  RetentionTarget,
} from "./workspaces/state/retention-policy.ts"
export type { RunStatus } from "./workspaces/runs/run-status.ts"
export type { RunQuery } from "./workspaces/runs/run-repository.ts"
export type { RunInput, RunStep, RunView } from "./workspaces/runs/run.ts"
export type { Runs } from "./workspaces/runs/run-api.ts"
export type { StateVersionQuery } from "./workspaces/state/state-version-repository.ts"
export type {
  StateDocument,
  StateVersionInput,
  StateVersionOutput,
  StateVersionStatus,
  StateVersionView,
} from "./workspaces/state/state-version.ts"
export type { StateVersions } from "./workspaces/state/state-version-api.ts"
export type {
  TeamWorkspace,
  TeamWorkspaceInput,
  TeamWorkspacePatch,
  TeamWorkspaces,
} from "./workspaces/access/team-workspace-access.ts"
export type {
  TerraformBinary,
  TerraformVersion,
  TerraformVersionFilter,
  TerraformVersionInput,
  TerraformVersions,
  TerraformVersionView,
} from "./workspaces/workspace/terraform-version.ts"
export type { VariableInput, VariablePatch, VariableView } from "./workspaces/variables/variable.ts"
export type { Variables } from "./workspaces/variables/variable.ts"
export type { TagBindingInput, TagInput, VcsRepoInput, WorkspaceInput } from "./workspaces/workspace/workspace-input.ts"
export type { Actor, Lock, LockEnd, WorkspaceRef } from "./workspaces/workspace/workspace.ts"
export type { VcsRepoView, WorkspaceView } from "./workspaces/workspace/workspace-view.ts"
export type { ShownWorkspace, Workspaces, WorkspaceShowing } from "./workspaces/workspace/workspace-api.ts"

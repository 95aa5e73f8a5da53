// The public surface of the engine: re-exports only.
export { openEngine, type EngineOptions } from "./open.ts"
export type { Discovery } from "./core/discovery.ts"
export type { Engine } from "./engine.ts"
export { parsePermittedAddresses, type PermittedAddresses } from "./client/address-guard.ts"
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
export { type EventKind, eventKinds, type EventSubject, type EventTag } from "./events/event.ts"
export type { EventPage, EventQuery, Events, EventView } from "./events/events.ts"
export { type OrganizationAccess, type OrganizationPermission, organizationPermissions } from "./core/caller.ts"
export { defaultPageSize, firstPage, maximumPageSize, type Page, type PageRequest } from "./core/page.ts"
export type { Log, Runtime } from "./core/runtime.ts"
export type { Instant, InstantOrOffset } from "./core/time.ts"
export type {
  OrganizationMembershipInput,
  OrganizationMembershipView,
} from "./organizations/organization-membership.ts"
export type { OrganizationMembershipFilter, OrganizationMemberships } from "./organizations/organization-memberships.ts"
export type { AgentPoolFilter, AgentPoolInput, AgentPools, AgentPoolView } from "./organizations/agent-pool.ts"
export type { ExecutionMode, OrganizationInput, OrganizationPatch, Plan } from "./organizations/organization.ts"
export type { Organizations, OrganizationView } from "./organizations/organizations.ts"
export type { ProjectAccess, ProjectAccessPatch } from "./organizations/custom-project-access.ts"
export type { ProjectAccessLevel } from "./organizations/project-permissions.ts"
export type { ProjectInput, ProjectPatch } from "./organizations/project.ts"
export type {
  CreatedWebhook,
  DeadLetterView,
  WebhookInput,
  WebhookPatch,
  Webhooks,
  WebhookView,
} from "./events/webhook.ts"
export type { ProjectFilter, Projects, ProjectView } from "./organizations/projects.ts"
export type { SiteSettings, SiteSettingsFamily } from "./organizations/site-settings.ts"
export type { SshKeyInput, SshKeys, SshKeyView } from "./organizations/ssh-key.ts"
export type { TeamProject, TeamProjectInput, TeamProjects } from "./organizations/team-project.ts"
export type { TeamInput, TeamPatch, TeamView } from "./organizations/team.ts"
export type { TeamFilter, TeamMember, TeamMembers, Teams } from "./organizations/teams.ts"
export type { OrganizationTokenKind, TokenInput } from "./organizations/token.ts"
export type { CreatedToken, Tokens, TokenView } from "./organizations/tokens.ts"
export type { AccountPatch, UserInput } from "./organizations/user.ts"
export type { Users, UserView } from "./organizations/users.ts"
export type {
  AppInstallationInput,
  AppInstallationView,
  OauthClientInput,
  OauthClientView,
  OauthTokenView,
  ServiceProvider,
} from "./organizations/vcs-connection.ts"
export type { VcsConnections } from "./organizations/vcs-connections.ts"
export type { BlockedKey, BlockedKeySource, KeyDigest } from "./pki/keys/blocked-key.ts"
export type { ImportedCrl } from "./pki/crl/crls.ts"
export type { ImportedCertificates } from "./pki/certificates/certificates.ts"
export type {
  CertificateInventory,
  MountInventoryEntry,
  MountInventoryPage,
  MountInventoryQuery,
} from "./pki/certificates/inventory.ts"
export type { BlockedKeyInput, BlockedKeys } from "./pki/keys/blocked-keys.ts"
export type { Policies, PolicySubject, PolicyView } from "./pki/access/policies.ts"
export type { ServiceTokenInput } from "./pki/access/service-token.ts"
export type {
  CreatedServiceToken,
  PathCapabilities,
  ServiceTokens,
  ServiceTokenView,
  TokenAnswer,
  TokenRef,
} from "./pki/access/service-tokens.ts"
export type { IssuedCertificate, IssueInput, SignInput } from "./pki/certificates/certificates.ts"
export type { IssuerCertificate } from "./pki/issuers/issuers.ts"
export type { AppRoleInput, AppRolePart } from "./pki/logins/app-role.ts"
export type {
  AppRoleCredentials,
  AppRoleLogins,
  AppRoleMethod,
  AppRoles,
  AppRoleView,
  CreatedSecretId,
  SecretIdRef,
  SecretIds,
} from "./pki/logins/app-roles.ts"
export type { AuthMethodConfig, AuthMethodInput, AuthMethodPatch } from "./pki/logins/auth-method.ts"
export type { AuthMethods, AuthMethodView } from "./pki/logins/auth-methods.ts"
export type { KubernetesConfig, KubernetesConfigInput } from "./pki/logins/kubernetes/kubernetes-config.ts"
export type {
  KubernetesConfigured,
  KubernetesLogin,
  KubernetesLogins,
  SavedKubernetesRole,
} from "./pki/logins/kubernetes/kubernetes-logins.ts"
export type { KubernetesRole, KubernetesRoleInput } from "./pki/logins/kubernetes/kubernetes-role.ts"
export type { SecretId, SecretIdInput } from "./pki/logins/secret-id.ts"
export type { TokenTerms } from "./pki/logins/token-terms.ts"
export { toDnsName } from "./pki/names/dns-name.ts"
export { toMailbox } from "./pki/names/email.ts"
export { formatIpAddress, parseIpAddress } from "./pki/names/ip-address.ts"
export { usagesOfRole } from "./pki/policy/approve.ts"
export type { MountConfig, MountInput, MountPatch, MountTraits } from "./pki/mount.ts"
export type { Mounts, MountView } from "./pki/mounts.ts"
export type { Pki } from "./pki/pki.ts"
export type { PolicyIdentifier, Role, RoleInput } from "./pki/roles/role.ts"
export type { Roles, SavedRole } from "./pki/roles/roles.ts"
export type { Binding, EffectiveTagBinding } from "./tags/tag-binding.ts"
export type { TagBindingView, TagFilter, TagReference, Tags, TagView } from "./tags/tags.ts"
export type { AssessmentInput, AssessmentView } from "./workspaces/assessment.ts"
export type { Assessments } from "./workspaces/assessments.ts"
export type {
  BulkAction,
  BulkActions,
  BulkRefusal,
  BulkRequest,
  BulkResult,
  BulkRun,
} from "./workspaces/bulk-action.ts"
export type {
  ConfigurationVersionInput,
  ConfigurationVersionView,
  IngressAttributes,
  IngressAttributesView,
  Readme,
} from "./workspaces/configuration-version.ts"
export type { ConfigurationVersions } from "./workspaces/configuration-versions.ts"
export type { LockExtension, LockInput } from "./workspaces/lock.ts"
export type { CustomAccess, WorkspaceAccessLevel, WorkspacePermissions } from "./workspaces/permissions.ts"
export type { WorkspaceQuery, WorkspaceSortKey } from "./workspaces/query.ts"
export type { RemoteStateConsumers } from "./workspaces/remote-state-consumers.ts"
export type {
  RetentionPolicies,
  RetentionPolicyView,
  RetentionRule,
  RetentionTarget,
} from "./workspaces/retention-policy.ts"
export type { RunStatus } from "./workspaces/run-status.ts"
export type { RunQuery } from "./workspaces/run-store.ts"
export type { RunInput, RunStep, RunView } from "./workspaces/run.ts"
export type { Runs } from "./workspaces/runs.ts"
export type { StateVersionQuery } from "./workspaces/state-version-store.ts"
export type {
  StateDocument,
  StateVersionInput,
  StateVersionOutput,
  StateVersionStatus,
  StateVersionView,
} from "./workspaces/state-version.ts"
export type { StateVersions } from "./workspaces/state-versions.ts"
export type {
  TeamWorkspace,
  TeamWorkspaceInput,
  TeamWorkspacePatch,
  TeamWorkspaces,
} from "./workspaces/team-workspace.ts"
export type {
  TerraformBinary,
  TerraformVersion,
  TerraformVersionFilter,
  TerraformVersionInput,
  TerraformVersions,
  TerraformVersionView,
} from "./workspaces/terraform-version.ts"
export type { VariableInput, VariablePatch, VariableView } from "./workspaces/variable.ts"
export type { Variables } from "./workspaces/variables.ts"
export type { TagBindingInput, TagInput, VcsRepoInput, WorkspaceInput } from "./workspaces/workspace-input.ts"
export type { Actor, Lock, LockEnd, WorkspaceRef } from "./workspaces/workspace.ts"
export type { VcsRepoView, WorkspaceView } from "./workspaces/workspace-view.ts"
export type { ShownWorkspace, Workspaces, WorkspaceShowing } from "./workspaces/workspaces.ts"

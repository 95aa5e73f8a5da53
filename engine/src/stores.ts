// Every store there is. Composition, storage and tests build or use all of them; a service declares the ones that it uses.
import type { AcmeAccountStore, AcmeAuthorizationStore, AcmeNonceStore, AcmeOrderStore } from "./acme/acme-store.ts"
import type { AcmeInventoryStore, RenewalSignalStore } from "./acme/management-store.ts"
import type { AcmeRateStore } from "./acme/rate-limits.ts"
import type { EventStore } from "./events/event.ts"
import type { WebhookStore } from "./events/webhook.ts"
import type { EntityNameRepository } from "./organizations/entity-name.ts"
import type { IdentityStore } from "./organizations/identity-store.ts"
import type { OrganizationMembershipStore } from "./organizations/organization-membership-store.ts"
import type { OrganizationStore } from "./organizations/organization-store.ts"
import type { ProjectStore } from "./organizations/project-store.ts"
import type { SettingsStore } from "./organizations/settings-store.ts"
import type { SshKeyStore } from "./organizations/ssh-key.ts"
import type { TeamProjectStore } from "./organizations/team-project.ts"
import type { TeamStore } from "./organizations/team-store.ts"
import type { TokenStore } from "./organizations/token-store.ts"
import type { UserStore } from "./organizations/user-store.ts"
import type { PolicyStore } from "./pki/access/policy-store.ts"
import type { TokenRoleStore } from "./pki/access/token-role-store.ts"
import type { ServiceTokenStore } from "./pki/access/service-token-store.ts"
import type { AppRoleStore, SecretIdStore } from "./pki/logins/app-role-store.ts"
import type { AuthMethodStore } from "./pki/logins/auth-method-store.ts"
import type { KubernetesLoginStore } from "./pki/logins/kubernetes/kubernetes-login-store.ts"
import type { MountStore } from "./pki/mount-store.ts"
import type { MountVersionStore } from "./pki/authority.ts"
import type { CertificateStore } from "./pki/certificates/certificate.ts"
import type { CrlStore } from "./pki/crl/crl-store.ts"
import type { RevocationStore } from "./pki/revoke/revocation.ts"
import type { IssuerStore } from "./pki/issuers/issuer.ts"
import type { BlockedKeyRepository } from "./pki/keys/blocked-key.ts"
import type { CaKeyStore } from "./pki/keys/key.ts"
import type { RoleStore } from "./pki/roles/role-store.ts"
import type { MountSettingsStore } from "./pki/settings/mount-settings.ts"
import type { LeaseStore } from "./pki/leases/lease.ts"
import type { TidyRunStore } from "./pki/tidy/tidy-run.ts"
import type { StatisticsStore } from "./pki/statistics/statistics-store.ts"
import type { TagStore } from "./tags/tag-store.ts"
import type { VcsConnectionStore } from "./organizations/vcs-connection-store.ts"
import type { AgentPoolStore } from "./workspaces/agent-pool-store.ts"
import type { AccessStore } from "./workspaces/access-store.ts"
import type { AssessmentStore } from "./workspaces/assessment-store.ts"
import type { BulkStore } from "./workspaces/bulk-store.ts"
import type { ConfigurationVersionStore } from "./workspaces/configuration-version-store.ts"
import type { RunRecordStore } from "./workspaces/run-record-store.ts"
import type { RunStore } from "./workspaces/run-store.ts"
import type { WorkspaceResourceStore } from "./workspaces/workspace-resource.ts"
import type { StateDocumentStore } from "./workspaces/state-document-store.ts"
import type { StateVersionStore } from "./workspaces/state-version-store.ts"
import type { VariableStore } from "./workspaces/variable-store.ts"
import type { RemoteStateConsumerStore } from "./workspaces/remote-state-consumers.ts"
import type { RetentionPolicyStore } from "./workspaces/retention-policy.ts"
import type { TeamWorkspaceStore } from "./workspaces/team-workspace.ts"
import type { TerraformVersionRepository } from "./workspaces/terraform-version.ts"
import type { WorkspaceStore } from "./workspaces/workspace-store.ts"

export interface Stores {
  readonly events: EventStore
  readonly webhooks: WebhookStore
  readonly identity: IdentityStore
  readonly entityNames: EntityNameRepository
  readonly settings: SettingsStore
  readonly organizations: OrganizationStore
  readonly projects: ProjectStore
  readonly users: UserStore
  readonly memberships: OrganizationMembershipStore
  readonly teams: TeamStore
  readonly teamProjects: TeamProjectStore
  readonly teamWorkspaces: TeamWorkspaceStore
  readonly tokens: TokenStore
  readonly access: AccessStore
  readonly workspaces: WorkspaceStore
  readonly bulkActions: BulkStore
  readonly stateVersions: StateVersionStore
  readonly stateDocuments: StateDocumentStore
  readonly workspaceResources: WorkspaceResourceStore
  readonly runs: RunStore
  readonly runRecords: RunRecordStore
  readonly configurationVersions: ConfigurationVersionStore
  readonly variables: VariableStore
  readonly assessments: AssessmentStore
  readonly vcsConnections: VcsConnectionStore
  readonly tags: TagStore
  readonly sshKeys: SshKeyStore
  readonly agentPools: AgentPoolStore
  readonly terraformVersions: TerraformVersionRepository
  readonly consumers: RemoteStateConsumerStore
  readonly retentionPolicies: RetentionPolicyStore
  readonly mounts: MountStore
  readonly authorities: MountVersionStore
  readonly caKeys: CaKeyStore
  readonly issuers: IssuerStore
  readonly roles: RoleStore
  readonly mountSettings: MountSettingsStore
  readonly certificates: CertificateStore
  readonly revocations: RevocationStore
  readonly crls: CrlStore
  readonly tidyRuns: TidyRunStore
  readonly statistics: StatisticsStore
  readonly certificateLeases: LeaseStore
  readonly acmeAccounts: AcmeAccountStore
  readonly acmeOrders: AcmeOrderStore
  readonly acmeAuthorizations: AcmeAuthorizationStore
  readonly acmeNonces: AcmeNonceStore
  readonly acmeRates: AcmeRateStore
  readonly acmeInventory: AcmeInventoryStore
  readonly renewalSignals: RenewalSignalStore
  readonly policies: PolicyStore
  readonly blockedKeys: BlockedKeyRepository
  readonly serviceTokens: ServiceTokenStore
  readonly tokenRoles: TokenRoleStore
  readonly authMethods: AuthMethodStore
  readonly appRoles: AppRoleStore
  readonly secretIds: SecretIdStore
  readonly kubernetesLogins: KubernetesLoginStore
}

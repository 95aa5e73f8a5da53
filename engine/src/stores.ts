// Every store there is. Composition, storage and tests build or use all of them; a service declares the ones that it uses.
import type { AcmeAccountRepository, AcmeAuthorizationRepository, AcmeNonceRepository, AcmeOrderRepository } from "./acme/acme-store.ts"
import type { AcmeInventoryRepository, RenewalSignalRepository } from "./acme/management-store.ts"
import type { AcmeRateRepository } from "./acme/rate-limits.ts"
import type { EventRepository } from "./events/event.ts"
import type { WebhookRepository } from "./events/webhook.ts"
import type { EntityNameRepository } from "./organizations/entity-name.ts"
import type { IdentityRepository } from "./organizations/identity-store.ts"
import type { OrganizationMembershipRepository } from "./organizations/organization-membership-store.ts"
import type { OrganizationRepository } from "./organizations/organization-store.ts"
import type { ProjectRepository } from "./organizations/project-store.ts"
import type { SettingsRepository } from "./organizations/settings-store.ts"
import type { SshKeyStore } from "./organizations/ssh-key.ts"
import type { TeamProjectRepository } from "./organizations/team-project.ts"
import type { TeamRepository } from "./organizations/team-store.ts"
import type { TokenRepository } from "./organizations/token-store.ts"
import type { UserRepository } from "./organizations/user-store.ts"
import type { PolicyRepository } from "./pki/access/policy-store.ts"
import type { TokenRoleRepository } from "./pki/access/token-role-store.ts"
import type { ServiceTokenRepository } from "./pki/access/service-token-store.ts"
import type { AppRoleRepository, SecretIdRepository } from "./pki/logins/app-role-store.ts"
import type { AuthMethodRepository } from "./pki/logins/auth-method-store.ts"
import type { KubernetesLoginRepository } from "./pki/logins/kubernetes/kubernetes-login-store.ts"
import type { MountRepository } from "./pki/mount-store.ts"
import type { MountVersionRepository } from "./pki/authority.ts"
import type { CertificateRepository } from "./pki/certificates/certificate.ts"
import type { CrlRepository } from "./pki/crl/crl-store.ts"
import type { RevocationRepository } from "./pki/revoke/revocation.ts"
import type { IssuerRepository } from "./pki/issuers/issuer.ts"
import type { BlockedKeyRepository } from "./pki/keys/blocked-key.ts"
import type { CaKeyStore } from "./pki/keys/key.ts"
import type { RoleRepository } from "./pki/roles/role-store.ts"
import type { MountSettingsRepository } from "./pki/settings/mount-settings.ts"
import type { LeaseRepository } from "./pki/leases/lease.ts"
import type { TidyRunRepository } from "./pki/tidy/tidy-run.ts"
import type { StatisticsRepository } from "./pki/statistics/statistics-store.ts"
import type { TagRepository } from "./tags/tag-store.ts"
import type { VcsConnectionRepository } from "./organizations/vcs-connection-store.ts"
import type { AgentPoolRepository } from "./workspaces/agent-pool-store.ts"
import type { AccessRepository } from "./workspaces/access-store.ts"
import type { AssessmentRepository } from "./workspaces/assessment-store.ts"
import type { BulkRepository } from "./workspaces/bulk-store.ts"
import type { ConfigurationVersionRepository } from "./workspaces/configuration-version-store.ts"
import type { RunRecordRepository } from "./workspaces/run-record-store.ts"
import type { RunRepository } from "./workspaces/run-store.ts"
import type { WorkspaceResourceRepository } from "./workspaces/workspace-resource.ts"
import type { StateDocumentRepository } from "./workspaces/state-document-store.ts"
import type { StateVersionRepository } from "./workspaces/state-version-store.ts"
import type { VariableRepository } from "./workspaces/variable-store.ts"
import type { RemoteStateConsumerRepository } from "./workspaces/remote-state-consumers.ts"
import type { RetentionPolicyRepository } from "./workspaces/retention-policy.ts"
import type { TeamWorkspaceRepository } from "./workspaces/team-workspace.ts"
import type { TerraformVersionRepository } from "./workspaces/terraform-version.ts"
import type { WorkspaceRepository } from "./workspaces/workspace-store.ts"

export interface Repositories {
  readonly events: EventRepository
  readonly webhooks: WebhookRepository
  readonly identity: IdentityRepository
  readonly entityNames: EntityNameRepository
  readonly settings: SettingsRepository
  readonly organizations: OrganizationRepository
  readonly projects: ProjectRepository
  readonly users: UserRepository
  readonly memberships: OrganizationMembershipRepository
  readonly teams: TeamRepository
  readonly teamProjects: TeamProjectRepository
  readonly teamWorkspaces: TeamWorkspaceRepository
  readonly tokens: TokenRepository
  readonly access: AccessRepository
  readonly workspaces: WorkspaceRepository
  readonly bulkActions: BulkRepository
  readonly stateVersions: StateVersionRepository
  readonly stateDocuments: StateDocumentRepository
  readonly workspaceResources: WorkspaceResourceRepository
  readonly runs: RunRepository
  readonly runRecords: RunRecordRepository
  readonly configurationVersions: ConfigurationVersionRepository
  readonly variables: VariableRepository
  readonly assessments: AssessmentRepository
  readonly vcsConnections: VcsConnectionRepository
  readonly tags: TagRepository
  readonly sshKeys: SshKeyStore
  readonly agentPools: AgentPoolRepository
  readonly terraformVersions: TerraformVersionRepository
  readonly consumers: RemoteStateConsumerRepository
  readonly retentionPolicies: RetentionPolicyRepository
  readonly mounts: MountRepository
  readonly authorities: MountVersionRepository
  readonly caKeys: CaKeyStore
  readonly issuers: IssuerRepository
  readonly roles: RoleRepository
  readonly mountSettings: MountSettingsRepository
  readonly certificates: CertificateRepository
  readonly revocations: RevocationRepository
  readonly crls: CrlRepository
  readonly tidyRuns: TidyRunRepository
  readonly statistics: StatisticsRepository
  readonly certificateLeases: LeaseRepository
  readonly acmeAccounts: AcmeAccountRepository
  readonly acmeOrders: AcmeOrderRepository
  readonly acmeAuthorizations: AcmeAuthorizationRepository
  readonly acmeNonces: AcmeNonceRepository
  readonly acmeRates: AcmeRateRepository
  readonly acmeInventory: AcmeInventoryRepository
  readonly renewalSignals: RenewalSignalRepository
  readonly policies: PolicyRepository
  readonly blockedKeys: BlockedKeyRepository
  readonly serviceTokens: ServiceTokenRepository
  readonly tokenRoles: TokenRoleRepository
  readonly authMethods: AuthMethodRepository
  readonly appRoles: AppRoleRepository
  readonly secretIds: SecretIdRepository
  readonly kubernetesLogins: KubernetesLoginRepository
}

import type { AppRoleRepository, SecretIdRepository } from "../../access/approle/app-role-repository.ts"
import type { CertificateLoginRepository } from "../../access/certificates/certificate-login-repository.ts"
import type { KubernetesLoginRepository } from "../../access/kubernetes/kubernetes-login-repository.ts"
import type { UserpassRepository } from "../../access/userpass/userpass-repository.ts"
import type { LeaseRepository } from "../../access/leases/lease.ts"
import type { AuthMethodRepository } from "../../access/logins/auth-method.ts"
import type { PolicyRepository } from "../../access/policies/policy.ts"
import type { ServiceTokenRepository } from "../../access/service-tokens/service-token-repository.ts"
import type { TokenRoleRepository } from "../../access/service-tokens/token-role.ts"
import type { AcmeInventoryRepository, RenewalSignalRepository } from "../../acme/accounts/management-repository.ts"
import type {
  AcmeAccountRepository,
  AcmeAuthorizationRepository,
  AcmeNonceRepository,
  AcmeOrderRepository,
} from "../../acme/acme.ts"
import type { AcmeRateRepository } from "../../acme/orders/rate-limits.ts"
import type { OrganizationId } from "../../core/ids.ts"
import type { Sealer } from "../../core/sealing.ts"
import type { Storage } from "../../core/storage.ts"
import type { Clock } from "../../core/time.ts"
import { type EventOrigin, type EventRepository, ownOrigin } from "../../events/feed/event.ts"
import type { WebhookRepository } from "../../events/webhooks/webhook.ts"
import type { IdentityRepository } from "../../organizations/authentication.ts"
import type { EntityNameRepository } from "../../organizations/entity-name.ts"
import type { OrganizationMembershipRepository } from "../../organizations/organization-membership.ts"
import type { OrganizationRepository } from "../../organizations/organization.ts"
import type { ProjectRepository } from "../../organizations/project.ts"
import type { SettingsRepository } from "../../organizations/site-settings.ts"
import type { SshKeyStore } from "../../organizations/ssh-key.ts"
import type { TeamProjectRepository } from "../../organizations/team-project-access.ts"
import type { TeamRepository } from "../../organizations/team.ts"
import type { TokenRepository } from "../../organizations/token.ts"
import type { UserRepository } from "../../organizations/user.ts"
import type { VcsConnectionRepository } from "../../organizations/vcs-connection.ts"
import type { CrlRepository } from "../../pki/crl/crl-repository.ts"
import type { CertificateRepository } from "../../pki/issuance/certificate.ts"
import type { EnrolmentRepository } from "../../pki/enrolments/enrolment-repository.ts"
import type { EstLabelRepository } from "../../pki/est/est-label-repository.ts"
import type { IssuerRepository } from "../../pki/issuers/issuer.ts"
import type { BlockedKeyRepository } from "../../pki/keys/blocked-key.ts"
import type { CaKeyStore } from "../../pki/keys/key.ts"
import type { MountSettingsRepository } from "../../pki/mounts/mount-settings.ts"
import type { MountVersionRepository } from "../../pki/mounts/mount-snapshot.ts"
import type { MountRepository } from "../../pki/mounts/mount.ts"
import type { RevocationRepository } from "../../pki/revocation/revocation.ts"
import type { RoleRepository } from "../../pki/roles/role.ts"
import type { StatisticsRepository } from "../../pki/statistics/mount-statistics.ts"
import type { TidyRunRepository } from "../../pki/tidy/tidy-run.ts"
import type { AccessRepository } from "../../workspaces/access/access-repository.ts"
import type { TeamWorkspaceRepository } from "../../workspaces/access/team-workspace-access.ts"
import type { AssessmentRepository } from "../../workspaces/assessments/assessment.ts"
import type { BulkRepository } from "../../workspaces/bulk/bulk-action.ts"
import type { ConfigurationVersionRepository } from "../../workspaces/configuration-versions/configuration-version-repository.ts"
import { expireLock } from "../../workspaces/lock/lock-expiry.ts"
import type { AgentPoolRepository } from "../../workspaces/runs/agent-pool-repository.ts"
import type { ExecutorRepository } from "../../workspaces/runs/executor-repository.ts"
import type { RunRecordRepository, RunRepository } from "../../workspaces/runs/run-repository.ts"
import type { RemoteStateConsumerRepository } from "../../workspaces/state/remote-state-consumers.ts"
import type { RetentionPolicyRepository } from "../../workspaces/state/retention-policy.ts"
import type { StateDocumentRepository } from "../../workspaces/state/state-document-repository.ts"
import type { StateVersionRepository } from "../../workspaces/state/state-version-repository.ts"
import type { WorkspaceResourceRepository } from "../../workspaces/state/workspace-resource.ts"
import type { TagRepository } from "../../workspaces/tags/tag-repository.ts"
import type { VariableRepository } from "../../workspaces/variables/variable.ts"
import type { TerraformVersionRepository } from "../../workspaces/workspace/terraform-version.ts"
import type { WorkspaceRepository } from "../../workspaces/workspace/workspace-repository.ts"
import type { Database } from "../sql/database.ts"
import type { QueryRunner } from "../sql/query-runner.ts"
import { SqlAppRoleRepository, SqlSecretIdRepository } from "./access/app-role-repository.ts"
import { SqlAuthMethodRepository } from "./access/auth-method-repository.ts"
import { SqlCertificateLoginRepository } from "./access/certificate-login-repository.ts"
import { SqlKubernetesLoginRepository } from "./access/kubernetes-login-repository.ts"
import { SqlUserpassRepository } from "./access/userpass-repository.ts"
import { SqlLeaseRepository } from "./access/lease-repository.ts"
import { SqlPolicyRepository } from "./access/policy-repository.ts"
import { SqlServiceTokenRepository, SqlTokenRoleRepository } from "./access/service-token-repository.ts"
import { SqlAcmeAccountRepository } from "./acme/acme-account-repository.ts"
import { SqlAcmeAuthorizationRepository } from "./acme/acme-authorization-repository.ts"
import { SqlAcmeInventoryRepository } from "./acme/acme-inventory-repository.ts"
import { SqlAcmeNonceRepository, SqlAcmeRateRepository } from "./acme/acme-nonce-repository.ts"
import { SqlAcmeOrderRepository } from "./acme/acme-order-repository.ts"
import { SqlRenewalSignalRepository } from "./acme/renewal-signal-repository.ts"
import { type EventRecording, SqlEventRepository } from "./events/event-repository.ts"
import { SqlWebhookRepository } from "./events/webhook-repository.ts"
import { SqlAgentPoolRepository } from "./organizations/agent-pool-repository.ts"
import { SqlEntityNameRepository, SqlIdentityRepository } from "./organizations/identity-repository.ts"
import { SqlOrganizationMembershipRepository } from "./organizations/organization-membership-repository.ts"
import { SqlOrganizationRepository, SqlSettingRepository } from "./organizations/organization-repository.ts"
import { SqlProjectRepository } from "./organizations/project-repository.ts"
import { SqlSshKeyRepository } from "./organizations/ssh-key-repository.ts"
import { SqlTeamProjectRepository, SqlTeamRepository } from "./organizations/team-repository.ts"
import { SqlTokenRepository } from "./organizations/token-repository.ts"
import { SqlUserRepository } from "./organizations/user-repository.ts"
import { SqlVcsConnectionRepository } from "./organizations/vcs-connection-repository.ts"
import { SqlBlockedKeyRepository } from "./pki/blocked-key-repository.ts"
import { SqlCaKeyRepository } from "./pki/ca-key-repository.ts"
import { SqlCertificateRepository } from "./pki/certificate-repository.ts"
import { SqlCrlRepository } from "./pki/crl-repository.ts"
import { SqlEnrolmentRepository } from "./pki/enrolment-repository.ts"
import { SqlEstLabelRepository } from "./pki/est-label-repository.ts"
import { SqlIssuerRepository } from "./pki/issuer-repository.ts"
import { SqlAuthorityRepository, SqlMountRepository, SqlMountSettingRepository } from "./pki/mount-repository.ts"
import { SqlRevocationRepository } from "./pki/revocation-repository.ts"
import { SqlRoleRepository } from "./pki/role-repository.ts"
import { SqlStatisticsRepository } from "./pki/statistics-repository.ts"
import { SqlTidyRepository } from "./pki/tidy-run-repository.ts"
import { SqlAccessRepository, SqlTeamWorkspaceRepository } from "./workspaces/access-repository.ts"
import { SqlAssessmentRepository } from "./workspaces/assessment-repository.ts"
import { SqlBulkRepository } from "./workspaces/bulk-action-repository.ts"
import { SqlConfigurationVersionRepository } from "./workspaces/configuration-version-repository.ts"
import { SqlExecutorRepository } from "./workspaces/executor-repository.ts"
import { SqlRemoteStateConsumerRepository } from "./workspaces/remote-state-consumer-repository.ts"
import { SqlRetentionPolicyRepository } from "./workspaces/retention-policy-repository.ts"
import { SqlRunRecordRepository } from "./workspaces/run-record-repository.ts"
import { SqlRunRepository } from "./workspaces/run-repository.ts"
import { SqlStateDocumentRepository } from "./workspaces/state-document-repository.ts"
import { SqlStateVersionRepository } from "./workspaces/state-version-repository.ts"
import { SqlTagRepository } from "./workspaces/tag-repository.ts"
import { SqlTerraformVersionRepository } from "./workspaces/terraform-version-repository.ts"
import { SqlVariableRepository } from "./workspaces/variable-repository.ts"
import { type ExpireLocks, SqlWorkspaceRepository } from "./workspaces/workspace-repository.ts"
import { SqlWorkspaceResourceRepository } from "./workspaces/workspace-resource-repository.ts"

/** Constructor arguments of every repository. */
type RepositoryDependencies = [
  session: QueryRunner,
  sealer: Sealer,
  clock: Clock,
  recording: EventRecording,
  expireLocks: ExpireLocks | undefined,
]

/** Repositories of one unit of work. Each is created on first use. */
class SessionRepositories implements Repositories {
  readonly #session: QueryRunner
  readonly #sealer: Sealer
  readonly #clock: Clock
  readonly #recording: EventRecording
  readonly #expireLocks: ExpireLocks | undefined
  readonly #made = new Map<keyof Repositories, unknown>()

  constructor(session: QueryRunner, sealer: Sealer, clock: Clock, recording: EventRecording, writes: boolean) {
    this.#session = session
    this.#sealer = sealer
    this.#clock = clock
    this.#recording = recording
    // A lock expires by itself, even if a client's request detects it. Its events therefore carry the server's own origin.
    this.#expireLocks = writes
      ? async (ids, now) => {
          const system = new SessionRepositories(session, sealer, clock, { ...recording, origin: ownOrigin }, true)
          for (const id of ids) await expireLock(system, id, now)
        }
      : undefined
  }

  get events() {
    return new SqlEventRepository(this.#session, this.#recording)
  }

  get webhooks() {
    return this.#once("webhooks", SqlWebhookRepository)
  }
  get identity() {
    return this.#once("identity", SqlIdentityRepository)
  }
  get entityNames() {
    return this.#once("entityNames", SqlEntityNameRepository)
  }
  get settings() {
    return this.#once("settings", SqlSettingRepository)
  }
  get organizations() {
    return this.#once("organizations", SqlOrganizationRepository)
  }
  get projects() {
    return this.#once("projects", SqlProjectRepository)
  }
  get users() {
    return this.#once("users", SqlUserRepository)
  }
  get memberships() {
    return this.#once("memberships", SqlOrganizationMembershipRepository)
  }
  get teams() {
    return this.#once("teams", SqlTeamRepository)
  }
  get teamProjects() {
    return this.#once("teamProjects", SqlTeamProjectRepository)
  }
  get teamWorkspaces() {
    return this.#once("teamWorkspaces", SqlTeamWorkspaceRepository)
  }
  get tokens() {
    return this.#once("tokens", SqlTokenRepository)
  }
  get access() {
    return this.#once("access", SqlAccessRepository)
  }
  get workspaces() {
    return this.#once("workspaces", SqlWorkspaceRepository)
  }
  get bulkActions() {
    return this.#once("bulkActions", SqlBulkRepository)
  }
  get workspaceResources() {
    return this.#once("workspaceResources", SqlWorkspaceResourceRepository)
  }
  get stateDocuments() {
    return this.#once("stateDocuments", SqlStateDocumentRepository)
  }
  get stateVersions() {
    return this.#once("stateVersions", SqlStateVersionRepository)
  }
  get runs() {
    return this.#once("runs", SqlRunRepository)
  }
  get runRecords() {
    return this.#once("runRecords", SqlRunRecordRepository)
  }
  get configurationVersions() {
    return this.#once("configurationVersions", SqlConfigurationVersionRepository)
  }
  get variables() {
    return this.#once("variables", SqlVariableRepository)
  }
  get assessments() {
    return this.#once("assessments", SqlAssessmentRepository)
  }
  get vcsConnections() {
    return this.#once("vcsConnections", SqlVcsConnectionRepository)
  }
  get tags() {
    return this.#once("tags", SqlTagRepository)
  }
  get sshKeys() {
    return this.#once("sshKeys", SqlSshKeyRepository)
  }
  get terraformVersions() {
    return this.#once("terraformVersions", SqlTerraformVersionRepository)
  }
  get agentPools() {
    return this.#once("agentPools", SqlAgentPoolRepository)
  }
  get executors() {
    return this.#once("executors", SqlExecutorRepository)
  }
  get consumers() {
    return this.#once("consumers", SqlRemoteStateConsumerRepository)
  }
  get retentionPolicies() {
    return this.#once("retentionPolicies", SqlRetentionPolicyRepository)
  }
  get blockedKeys() {
    return this.#once("blockedKeys", SqlBlockedKeyRepository)
  }
  get estLabels() {
    return this.#once("estLabels", SqlEstLabelRepository)
  }
  get enrolments() {
    return this.#once("enrolments", SqlEnrolmentRepository)
  }
  get policies() {
    return this.#once("policies", SqlPolicyRepository)
  }
  get serviceTokens() {
    return this.#once("serviceTokens", SqlServiceTokenRepository)
  }
  get mounts() {
    return this.#once("mounts", SqlMountRepository)
  }
  get tokenRoles() {
    return this.#once("tokenRoles", SqlTokenRoleRepository)
  }
  get authMethods() {
    return this.#once("authMethods", SqlAuthMethodRepository)
  }
  get appRoles() {
    return this.#once("appRoles", SqlAppRoleRepository)
  }
  get secretIds() {
    return this.#once("secretIds", SqlSecretIdRepository)
  }

  get authorities() {
    return this.#once("authorities", SqlAuthorityRepository)
  }
  get caKeys() {
    return this.#once("caKeys", SqlCaKeyRepository)
  }
  get issuers() {
    return this.#once("issuers", SqlIssuerRepository)
  }
  get roles() {
    return this.#once("roles", SqlRoleRepository)
  }
  get mountSettings() {
    return this.#once("mountSettings", SqlMountSettingRepository)
  }
  get certificateLogins() {
    return this.#once("certificateLogins", SqlCertificateLoginRepository)
  }
  get kubernetesLogins() {
    return this.#once("kubernetesLogins", SqlKubernetesLoginRepository)
  }
  get userpassUsers() {
    return this.#once("userpassUsers", SqlUserpassRepository)
  }
  get certificates() {
    return this.#once("certificates", SqlCertificateRepository)
  }
  get revocations() {
    return this.#once("revocations", SqlRevocationRepository)
  }
  get crls() {
    return this.#once("crls", SqlCrlRepository)
  }
  get tidyRuns() {
    return this.#once("tidyRuns", SqlTidyRepository)
  }
  get statistics() {
    return this.#once("statistics", SqlStatisticsRepository)
  }
  get certificateLeases() {
    return this.#once("certificateLeases", SqlLeaseRepository)
  }

  get acmeAccounts() {
    return this.#once("acmeAccounts", SqlAcmeAccountRepository)
  }
  get acmeOrders() {
    return this.#once("acmeOrders", SqlAcmeOrderRepository)
  }
  get acmeAuthorizations() {
    return this.#once("acmeAuthorizations", SqlAcmeAuthorizationRepository)
  }
  get acmeNonces() {
    return this.#once("acmeNonces", SqlAcmeNonceRepository)
  }
  get acmeRates() {
    return this.#once("acmeRates", SqlAcmeRateRepository)
  }
  get acmeInventory() {
    return this.#once("acmeInventory", SqlAcmeInventoryRepository)
  }
  get renewalSignals() {
    return this.#once("renewalSignals", SqlRenewalSignalRepository)
  }

  /** Writes the rows of the workspaces that the transaction is about. Called at the end of every writing transaction. */
  async guardWorkspaces(): Promise<void> {
    const made = this.#made.get("workspaces") as SqlWorkspaceRepository | undefined
    await made?.guardFound()
  }

  #once<T>(name: keyof Repositories, Rows: new (...dependencies: RepositoryDependencies) => T): T {
    const made = this.#made.get(name) as T | undefined
    if (made !== undefined) return made
    const rows = new Rows(this.#session, this.#sealer, this.#clock, this.#recording, this.#expireLocks)
    this.#made.set(name, rows)
    return rows
  }
}

/** Options of the event feed that changes are recorded in. */
export interface FeedOptions {
  /** Called after a commit that appended events, with the organizations that have them. */
  readonly committed: (organizationIds: ReadonlySet<OrganizationId>) => void
}

/**
 * Returns the storage port over a database.
 *
 * `clock` decides which locks have expired and gives events their time. Without `feed`, no events are recorded. Changes are attributed to
 * `origin`.
 */
export function repositoriesOver(
  database: Pick<Database, "read" | "readReplica" | "transact">,
  sealer: Sealer,
  clock: Clock,
  feed?: FeedOptions,
  origin: EventOrigin = ownOrigin,
): Storage<Repositories> {
  const recordingOf = (noted: EventRecording["noted"]): EventRecording => ({
    clock,
    isOn: feed !== undefined,
    origin,
    noted,
  })
  const reading = recordingOf(() => {})
  return {
    read: (work) => database.read((session) => work(new SessionRepositories(session, sealer, clock, reading, false))),
    readReplica: (work) =>
      database.readReplica((session) => work(new SessionRepositories(session, sealer, clock, reading, false))),
    transact: (work, options) => {
      let changed: Set<OrganizationId> | undefined
      const noted = (id: OrganizationId) => void (changed ??= new Set()).add(id)
      const recording = recordingOf(noted)
      const answer = database.transact(async (session) => {
        changed = undefined
        const repositories = new SessionRepositories(session, sealer, clock, recording, true)
        const value = await work(repositories)
        await repositories.guardWorkspaces()
        return value
      }, options)
      // The handler is attached separately: the caller does not wait for another promise, and gets errors from `answer` itself.
      answer.then(
        () => void (changed !== undefined && feed?.committed(changed)),
        () => {},
      )
      return answer
    },
  }
}

// All repositories. Composition, storage and tests build or use all of them; a service declares the ones that it uses.

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
  readonly executors: ExecutorRepository
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
  readonly enrolments: EnrolmentRepository
  readonly estLabels: EstLabelRepository
  readonly serviceTokens: ServiceTokenRepository
  readonly tokenRoles: TokenRoleRepository
  readonly authMethods: AuthMethodRepository
  readonly appRoles: AppRoleRepository
  readonly secretIds: SecretIdRepository
  readonly certificateLogins: CertificateLoginRepository
  readonly kubernetesLogins: KubernetesLoginRepository
  readonly userpassUsers: UserpassRepository
}

import type { OrganizationId } from "../core/ids.ts"
import type { Sealer } from "../core/sealing.ts"
import type { Storage } from "../core/storage.ts"
import type { Clock } from "../core/time.ts"
import { type EventOrigin, ownOrigin } from "../events/event.ts"
import type { Repositories } from "../stores.ts"
import { expireLock } from "../workspaces/lock-expiry.ts"
import { SqlAgentPoolRepository } from "./agent-pool-rows.ts"
import { SqlAccessRepository } from "./access-rows.ts"
import { SqlAppRoleRepository, SqlSecretIdRepository } from "./app-role-rows.ts"
import { SqlAssessmentRepository } from "./assessment-rows.ts"
import { SqlAuthMethodRepository } from "./auth-method-rows.ts"
import { SqlBulkRepository } from "./bulk-rows.ts"
import { SqlConfigurationVersionRepository } from "./configuration-version-rows.ts"
import type { Database } from "./database.ts"
import { SqlEntityNameRepository } from "./entity-name-repository.ts"
import { type EventRecording, SqlEventRepository } from "./event-rows.ts"
import { SqlIdentityRepository } from "./identity-rows.ts"
import { SqlMountRepository } from "./mount-rows.ts"
import { SqlOrganizationMembershipRepository } from "./organization-membership-rows.ts"
import { SqlOrganizationRepository } from "./organization-rows.ts"
import { SqlBlockedKeyRepository } from "./blocked-key-repository.ts"
import { SqlPolicyRepository } from "./policy-rows.ts"
import { SqlProjectRepository } from "./project-rows.ts"
import { SqlRunRecordRepository } from "./run-record-rows.ts"
import { SqlRunRepository } from "./run-rows.ts"
import type { QueryRunner } from "./session.ts"
import { SqlServiceTokenRepository } from "./service-token-rows.ts"
import { SqlSettingRepository } from "./setting-rows.ts"
import { SqlWorkspaceResourceRepository } from "./workspace-resource-rows.ts"
import { SqlStateDocumentRepository } from "./state-document-rows.ts"
import { SqlStateVersionRepository } from "./state-version-rows.ts"
import { SqlTeamProjectRepository } from "./team-project-rows.ts"
import { SqlTeamRepository } from "./team-rows.ts"
import { SqlTeamWorkspaceRepository } from "./team-workspace-rows.ts"
import { SqlTokenRoleRepository } from "./token-role-rows.ts"
import { SqlTokenRepository } from "./token-rows.ts"
import { SqlUserRepository } from "./user-rows.ts"
import { SqlRemoteStateConsumerRepository } from "./remote-state-consumer-rows.ts"
import { SqlSshKeyRepository } from "./ssh-key-rows.ts"
import { SqlRetentionPolicyRepository } from "./retention-policy-rows.ts"
import { SqlStatisticsRepository } from "./statistics-rows.ts"
import { SqlTagRepository } from "./tag-rows.ts"
import { SqlTerraformVersionRepository } from "./terraform-version-repository.ts"
import { SqlVariableRepository } from "./variable-rows.ts"
import { SqlVcsConnectionRepository } from "./vcs-connection-rows.ts"
import { SqlAcmeAccountRepository } from "./acme-account-rows.ts"
import { SqlAcmeInventoryRepository } from "./acme-inventory-rows.ts"
import { SqlAcmeNonceRepository } from "./acme-nonce-rows.ts"
import { SqlAcmeAuthorizationRepository } from "./acme-authorization-rows.ts"
import { SqlAcmeRateRepository } from "./acme-rate-rows.ts"
import { SqlAcmeOrderRepository } from "./acme-order-rows.ts"
import { SqlRenewalSignalRepository } from "./renewal-signal-rows.ts"
import { SqlAuthorityRepository } from "./authority-rows.ts"
import { SqlCaKeyRepository } from "./ca-key-rows.ts"
import { SqlCertificateRepository } from "./certificate-rows.ts"
import { SqlCrlRepository } from "./crl-rows.ts"
import { SqlRevocationRepository } from "./revocation-rows.ts"
import { SqlIssuerRepository } from "./issuer-rows.ts"
import { SqlMountSettingRepository } from "./mount-setting-rows.ts"
import { SqlRoleRepository } from "./role-rows.ts"
import { SqlKubernetesLoginRepository } from "./kubernetes-login-rows.ts"
import { SqlLeaseRepository } from "./lease-rows.ts"
import { SqlTidyRepository } from "./tidy-rows.ts"
import { SqlWebhookRepository } from "./webhook-rows.ts"
import { type ExpireLocks, SqlWorkspaceRepository } from "./workspace-rows.ts"

/** What any of the stores may need. */
type Held = [
  session: QueryRunner,
  sealer: Sealer,
  clock: Clock,
  recording: EventRecording,
  expireLocks: ExpireLocks | undefined,
]

/** The stores of one unit of work; each is made when it is first used. */
class SessionStores implements Repositories {
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
    // The expiry of a lock is no caller's action, although a caller's request found it.
    this.#expireLocks = writes
      ? async (ids, now) => {
          const system = new SessionStores(session, sealer, clock, { ...recording, origin: ownOrigin }, true)
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
  get consumers() {
    return this.#once("consumers", SqlRemoteStateConsumerRepository)
  }
  get retentionPolicies() {
    return this.#once("retentionPolicies", SqlRetentionPolicyRepository)
  }
  get blockedKeys() {
    return this.#once("blockedKeys", SqlBlockedKeyRepository)
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
  get kubernetesLogins() {
    return this.#once("kubernetesLogins", SqlKubernetesLoginRepository)
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

  /** At the end of a transaction that changes something. */
  async guardWorkspaces(): Promise<void> {
    const made = this.#made.get("workspaces") as SqlWorkspaceRepository | undefined
    await made?.guardFound()
  }

  #once<T>(name: keyof Repositories, Rows: new (...held: Held) => T): T {
    const made = this.#made.get(name) as T | undefined
    if (made !== undefined) return made
    const rows = new Rows(this.#session, this.#sealer, this.#clock, this.#recording, this.#expireLocks)
    this.#made.set(name, rows)
    return rows
  }
}

/** Of the feed that changes are told in. */
export interface FeedOptions {
  /** Called when a commit has brought these organizations something to read. */
  readonly committed: (organizationIds: ReadonlySet<OrganizationId>) => void
}

/**
 * `clock` decides which locks have expired, and when events are. Without a feed nothing is recorded. What is changed is ascribed
 * to `origin`.
 */
export function repositoriesOver(
  database: Pick<Database, "read" | "readElsewhere" | "transact">,
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
    read: (work) => database.read((session) => work(new SessionStores(session, sealer, clock, reading, false))),
    readReplica: (work) =>
      database.readElsewhere((session) => work(new SessionStores(session, sealer, clock, reading, false))),
    transact: (work, options) => {
      let changed: Set<OrganizationId> | undefined
      const noted = (id: OrganizationId) => void (changed ??= new Set()).add(id)
      const recording = recordingOf(noted)
      const answer = database.transact(async (session) => {
        changed = undefined
        const stores = new SessionStores(session, sealer, clock, recording, true)
        const value = await work(stores)
        await stores.guardWorkspaces()
        return value
      }, options)
      // Beside the answer: the caller waits for no further promise, and hears of a failure itself.
      answer.then(
        () => void (changed !== undefined && feed?.committed(changed)),
        () => {},
      )
      return answer
    },
  }
}

import type { OrganizationId } from "../core/ids.ts"
import type { Sealer } from "../core/sealing.ts"
import type { Storage } from "../core/storage.ts"
import type { Clock } from "../core/time.ts"
import { type EventOrigin, ownOrigin } from "../events/event.ts"
import type { Stores } from "../stores.ts"
import { expireLock } from "../workspaces/lock-expiry.ts"
import { AgentPoolRows } from "./agent-pool-rows.ts"
import { AccessRows } from "./access-rows.ts"
import { AppRoleRows, SecretIdRows } from "./app-role-rows.ts"
import { AssessmentRows } from "./assessment-rows.ts"
import { AuthMethodRows } from "./auth-method-rows.ts"
import { BulkRows } from "./bulk-rows.ts"
import { ConfigurationVersionRows } from "./configuration-version-rows.ts"
import type { Database } from "./database.ts"
import { SqlEntityNameRepository } from "./entity-name-repository.ts"
import { type EventRecording, EventRows } from "./event-rows.ts"
import { IdentityRows } from "./identity-rows.ts"
import { MountRows } from "./mount-rows.ts"
import { OrganizationMembershipRows } from "./organization-membership-rows.ts"
import { OrganizationRows } from "./organization-rows.ts"
import { SqlBlockedKeyRepository } from "./blocked-key-repository.ts"
import { PolicyRows } from "./policy-rows.ts"
import { ProjectRows } from "./project-rows.ts"
import { RunRecordRows } from "./run-record-rows.ts"
import { RunRows } from "./run-rows.ts"
import type { Session } from "./session.ts"
import { ServiceTokenRows } from "./service-token-rows.ts"
import { SettingRows } from "./setting-rows.ts"
import { WorkspaceResourceRows } from "./workspace-resource-rows.ts"
import { StateDocumentRows } from "./state-document-rows.ts"
import { StateVersionRows } from "./state-version-rows.ts"
import { TeamProjectRows } from "./team-project-rows.ts"
import { TeamRows } from "./team-rows.ts"
import { TeamWorkspaceRows } from "./team-workspace-rows.ts"
import { TokenRoleRows } from "./token-role-rows.ts"
import { TokenRows } from "./token-rows.ts"
import { UserRows } from "./user-rows.ts"
import { RemoteStateConsumerRows } from "./remote-state-consumer-rows.ts"
import { SshKeyRows } from "./ssh-key-rows.ts"
import { RetentionPolicyRows } from "./retention-policy-rows.ts"
import { StatisticsRows } from "./statistics-rows.ts"
import { TagRows } from "./tag-rows.ts"
import { SqlTerraformVersionRepository } from "./terraform-version-repository.ts"
import { VariableRows } from "./variable-rows.ts"
import { VcsConnectionRows } from "./vcs-connection-rows.ts"
import { AcmeAccountRows } from "./acme-account-rows.ts"
import { AcmeInventoryRows } from "./acme-inventory-rows.ts"
import { AcmeNonceRows } from "./acme-nonce-rows.ts"
import { AcmeAuthorizationRows } from "./acme-authorization-rows.ts"
import { AcmeRateRows } from "./acme-rate-rows.ts"
import { AcmeOrderRows } from "./acme-order-rows.ts"
import { RenewalSignalRows } from "./renewal-signal-rows.ts"
import { AuthorityRows } from "./authority-rows.ts"
import { CaKeyRows } from "./ca-key-rows.ts"
import { CertificateRows } from "./certificate-rows.ts"
import { CrlRows } from "./crl-rows.ts"
import { RevocationRows } from "./revocation-rows.ts"
import { IssuerRows } from "./issuer-rows.ts"
import { MountSettingRows } from "./mount-setting-rows.ts"
import { RoleRows } from "./role-rows.ts"
import { KubernetesLoginRows } from "./kubernetes-login-rows.ts"
import { LeaseRows } from "./lease-rows.ts"
import { TidyRows } from "./tidy-rows.ts"
import { WebhookRows } from "./webhook-rows.ts"
import { type ExpireLocks, WorkspaceRows } from "./workspace-rows.ts"

/** What any of the stores may need. */
type Held = [
  session: Session,
  sealer: Sealer,
  clock: Clock,
  recording: EventRecording,
  expireLocks: ExpireLocks | undefined,
]

/** The stores of one unit of work; each is made when it is first used. */
class SessionStores implements Stores {
  readonly #session: Session
  readonly #sealer: Sealer
  readonly #clock: Clock
  readonly #recording: EventRecording
  readonly #expireLocks: ExpireLocks | undefined
  readonly #made = new Map<keyof Stores, unknown>()

  constructor(session: Session, sealer: Sealer, clock: Clock, recording: EventRecording, writes: boolean) {
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
    return new EventRows(this.#session, this.#recording)
  }

  get webhooks() {
    return this.#once("webhooks", WebhookRows)
  }
  get identity() {
    return this.#once("identity", IdentityRows)
  }
  get entityNames() {
    return this.#once("entityNames", SqlEntityNameRepository)
  }
  get settings() {
    return this.#once("settings", SettingRows)
  }
  get organizations() {
    return this.#once("organizations", OrganizationRows)
  }
  get projects() {
    return this.#once("projects", ProjectRows)
  }
  get users() {
    return this.#once("users", UserRows)
  }
  get memberships() {
    return this.#once("memberships", OrganizationMembershipRows)
  }
  get teams() {
    return this.#once("teams", TeamRows)
  }
  get teamProjects() {
    return this.#once("teamProjects", TeamProjectRows)
  }
  get teamWorkspaces() {
    return this.#once("teamWorkspaces", TeamWorkspaceRows)
  }
  get tokens() {
    return this.#once("tokens", TokenRows)
  }
  get access() {
    return this.#once("access", AccessRows)
  }
  get workspaces() {
    return this.#once("workspaces", WorkspaceRows)
  }
  get bulkActions() {
    return this.#once("bulkActions", BulkRows)
  }
  get workspaceResources() {
    return this.#once("workspaceResources", WorkspaceResourceRows)
  }
  get stateDocuments() {
    return this.#once("stateDocuments", StateDocumentRows)
  }
  get stateVersions() {
    return this.#once("stateVersions", StateVersionRows)
  }
  get runs() {
    return this.#once("runs", RunRows)
  }
  get runRecords() {
    return this.#once("runRecords", RunRecordRows)
  }
  get configurationVersions() {
    return this.#once("configurationVersions", ConfigurationVersionRows)
  }
  get variables() {
    return this.#once("variables", VariableRows)
  }
  get assessments() {
    return this.#once("assessments", AssessmentRows)
  }
  get vcsConnections() {
    return this.#once("vcsConnections", VcsConnectionRows)
  }
  get tags() {
    return this.#once("tags", TagRows)
  }
  get sshKeys() {
    return this.#once("sshKeys", SshKeyRows)
  }
  get terraformVersions() {
    return this.#once("terraformVersions", SqlTerraformVersionRepository)
  }
  get agentPools() {
    return this.#once("agentPools", AgentPoolRows)
  }
  get consumers() {
    return this.#once("consumers", RemoteStateConsumerRows)
  }
  get retentionPolicies() {
    return this.#once("retentionPolicies", RetentionPolicyRows)
  }
  get blockedKeys() {
    return this.#once("blockedKeys", SqlBlockedKeyRepository)
  }
  get policies() {
    return this.#once("policies", PolicyRows)
  }
  get serviceTokens() {
    return this.#once("serviceTokens", ServiceTokenRows)
  }
  get mounts() {
    return this.#once("mounts", MountRows)
  }
  get tokenRoles() {
    return this.#once("tokenRoles", TokenRoleRows)
  }
  get authMethods() {
    return this.#once("authMethods", AuthMethodRows)
  }
  get appRoles() {
    return this.#once("appRoles", AppRoleRows)
  }
  get secretIds() {
    return this.#once("secretIds", SecretIdRows)
  }

  get authorities() {
    return this.#once("authorities", AuthorityRows)
  }
  get caKeys() {
    return this.#once("caKeys", CaKeyRows)
  }
  get issuers() {
    return this.#once("issuers", IssuerRows)
  }
  get roles() {
    return this.#once("roles", RoleRows)
  }
  get mountSettings() {
    return this.#once("mountSettings", MountSettingRows)
  }
  get kubernetesLogins() {
    return this.#once("kubernetesLogins", KubernetesLoginRows)
  }
  get certificates() {
    return this.#once("certificates", CertificateRows)
  }
  get revocations() {
    return this.#once("revocations", RevocationRows)
  }
  get crls() {
    return this.#once("crls", CrlRows)
  }
  get tidyRuns() {
    return this.#once("tidyRuns", TidyRows)
  }
  get statistics() {
    return this.#once("statistics", StatisticsRows)
  }
  get certificateLeases() {
    return this.#once("certificateLeases", LeaseRows)
  }

  get acmeAccounts() {
    return this.#once("acmeAccounts", AcmeAccountRows)
  }
  get acmeOrders() {
    return this.#once("acmeOrders", AcmeOrderRows)
  }
  get acmeAuthorizations() {
    return this.#once("acmeAuthorizations", AcmeAuthorizationRows)
  }
  get acmeNonces() {
    return this.#once("acmeNonces", AcmeNonceRows)
  }
  get acmeRates() {
    return this.#once("acmeRates", AcmeRateRows)
  }
  get acmeInventory() {
    return this.#once("acmeInventory", AcmeInventoryRows)
  }
  get renewalSignals() {
    return this.#once("renewalSignals", RenewalSignalRows)
  }

  /** At the end of a transaction that changes something. */
  async guardWorkspaces(): Promise<void> {
    const made = this.#made.get("workspaces") as WorkspaceRows | undefined
    await made?.guardFound()
  }

  #once<T>(name: keyof Stores, Rows: new (...held: Held) => T): T {
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
export function storesOver(
  database: Pick<Database, "read" | "readElsewhere" | "transact">,
  sealer: Sealer,
  clock: Clock,
  feed?: FeedOptions,
  origin: EventOrigin = ownOrigin,
): Storage<Stores> {
  const recordingOf = (noted: EventRecording["noted"]): EventRecording => ({
    clock,
    isOn: feed !== undefined,
    origin,
    noted,
  })
  const reading = recordingOf(() => {})
  return {
    read: (work) => database.read((session) => work(new SessionStores(session, sealer, clock, reading, false))),
    readElsewhere: (work) =>
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

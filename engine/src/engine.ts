// The one port callers see. Two implementations: embedded (over storage) and remote (over HTTP). Whatever a method returns
// must therefore stand whole in the document on the wire: an organization by its name, no internal fact beside it. Such
// values are called views (`WorkspaceView`); each family is an interface in a file of its own (`workspaces/workspaces.ts`).
import type { AcmeServer } from "./acme/acme.ts"
import type { Directory } from "./acme/directory.ts"
import type { AcmeManagement } from "./acme/accounts/management.ts"
import type { Audit, AuditTrail } from "./core/audit.ts"
import type { Metrics } from "./core/metrics.ts"
import type { Discovery } from "./core/discovery.ts"
import type { Caller } from "./core/caller.ts"
import type { RequestSnapshot } from "./core/cache-versions.ts"
import type { Events, EventStreams } from "./events/feed/events.ts"
import type { Webhooks } from "./events/webhooks/webhook.ts"
import type { TokenUse } from "./organizations/authentication.ts"
import type { AgentPools } from "./organizations/agent-pool.ts"
import type { OrganizationMemberships } from "./organizations/organization-membership.ts"
import type { Organizations } from "./organizations/organization.ts"
import type { Projects } from "./organizations/project.ts"
import type { SiteSettingsFamily } from "./organizations/site-settings.ts"
import type { SshKeys } from "./organizations/ssh-key.ts"
import type { TeamProjects } from "./organizations/team-project-access.ts"
import type { Teams } from "./organizations/team.ts"
import type { Tokens } from "./organizations/token.ts"
import type { Users } from "./organizations/user.ts"
import type { VcsConnections } from "./organizations/vcs-connection.ts"
import type { Policies } from "./access/policies/policy.ts"
import type { ServiceTokens } from "./access/service-tokens/service-token-service.ts"
import type { TokenRoles } from "./access/service-tokens/token-role-service.ts"
import type { AppRoleMethod } from "./access/approle/app-role-api.ts"
import type { AuthMethodTable } from "./access/logins/auth-method-directory.ts"
import type { AuthMethods } from "./access/logins/auth-method-api.ts"
import type { KubernetesLogins } from "./access/kubernetes/kubernetes-login-api.ts"
import type { MountTable } from "./pki/mounts/mount-directory.ts"
import type { AuthorityFigures } from "./pki/statistics/mount-metrics.ts"
import type { Leases, ServedLeases } from "./access/leases/lease.ts"
import type { CertificateInventory } from "./pki/issuance/certificate-inventory.ts"
import type { BlockedKeys } from "./pki/keys/blocked-key.ts"
import type { Mounts } from "./pki/mounts/mount.ts"
import type { Pki, ServedPki } from "./pki/mounts/pki.ts"
import type { VisibleMounts } from "./pki/mounts/visible-mounts.ts"
import type { Assessments } from "./workspaces/assessments/assessment.ts"
import type { BulkActions } from "./workspaces/bulk/bulk-action.ts"
import type {
  ConfigurationUploads,
  ConfigurationVersions,
} from "./workspaces/configuration-versions/configuration-version-api.ts"
import type { WorkspaceInclusions } from "./workspaces/workspace/include.ts"
import type { RunClaims } from "./workspaces/runs/run-claim.ts"
import type { RunLogs } from "./workspaces/runs/run-logs.ts"
import type { Runs } from "./workspaces/runs/run-api.ts"
import type { StateTransfers, StateVersions } from "./workspaces/state/state-version-api.ts"
import type { Tags } from "./workspaces/tags/tag-api.ts"
import type { RemoteStateConsumers } from "./workspaces/state/remote-state-consumers.ts"
import type { RetentionPolicies } from "./workspaces/state/retention-policy.ts"
import type { TeamWorkspaces } from "./workspaces/access/team-workspace-access.ts"
import type { TerraformVersions } from "./workspaces/workspace/terraform-version.ts"
import type { Variables } from "./workspaces/variables/variable.ts"
import type { Workspaces } from "./workspaces/workspace/workspace-api.ts"

/**
 * What Chancery does, as the caller whom this engine acts for. Instants are milliseconds since the Unix epoch, lists come in
 * pages of at most 100 (`PageRequest`), and a page past the end is empty.
 *
 * A method that refuses throws `EngineError`; its `code` says why, the same in every implementation:
 * - `not-found`: missing, or the caller may not see it or do that to it; the error is the same
 * - `forbidden`: of mounts, what is in them and who may use it, where it is told apart: no policy of the caller allows it
 * - `invalid`: rules broken by the input, all at once, one fault per field in `faults`
 * - `bad-request`: input that no field explains, such as a character that no store can hold
 * - `conflict`, `unprocessable`: the input is fine, the present state or a rule across objects refuses it
 * - `unauthenticated`: the token is unknown, expired or revoked
 * - `busy`, `rate-limited`: nothing was done; try again after `retryAfterMs`
 * - `unavailable`: of a remote engine only; no usable answer came, and a change may have been made all the same
 * - `too-large`: a state, or a request to a remote engine, of more bytes than are taken at once
 *
 * Close it when done; the engine that opened a store or a connection is the one to close.
 */
export interface Engine extends AsyncDisposable {
  readonly discovery: Discovery
  readonly organizations: Organizations
  readonly organizationMemberships: OrganizationMemberships
  readonly projects: Projects
  readonly users: Users
  readonly teams: Teams
  readonly teamProjects: TeamProjects
  readonly teamWorkspaces: TeamWorkspaces
  readonly tokens: Tokens
  readonly siteSettings: SiteSettingsFamily
  readonly terraformVersions: TerraformVersions
  readonly workspaces: Workspaces
  readonly bulkActions: BulkActions
  readonly stateVersions: StateVersions
  readonly runs: Runs
  readonly runClaims: RunClaims
  readonly configurationVersions: ConfigurationVersions
  readonly variables: Variables
  readonly events: Events
  readonly webhooks: Webhooks
  readonly assessments: Assessments
  readonly vcsConnections: VcsConnections
  readonly tags: Tags
  readonly sshKeys: SshKeys
  readonly agentPools: AgentPools
  readonly remoteStateConsumers: RemoteStateConsumers
  readonly retentionPolicies: RetentionPolicies
  readonly policies: Policies
  readonly blockedKeys: BlockedKeys
  readonly certificateInventory: CertificateInventory
  readonly serviceTokens: ServiceTokens
  readonly tokenRoles: TokenRoles
  readonly authMethods: AuthMethods
  readonly leases: Leases
  readonly mounts: Mounts
  /** Logins at the path of a method of the type `kubernetes`, below `auth/`; the same holds for it as for `pki`. */
  kubernetesLogins(methodPath: string): KubernetesLogins
  /** The authority at a path. Whether there is one, its verbs find out: they throw `not-found`. */
  pki(mountPath: string): Pki
  /** Accounts and orders of the mount's ACME directories, and who is let in to them; the same holds for it. */
  acme(mountPath: string): AcmeManagement
  /** Roles that programs log in as, of the auth method at a path below `auth/`; the same holds for it. */
  appRoles(methodPath: string): AppRoleMethod
}

/** The engine on the server's side: what stands beside the data of an answer is found there, in one look at the store. */
export interface ServingEngine extends Engine {
  readonly leases: ServedLeases
  readonly visibleMounts: VisibleMounts
  pki(mountPath: string): ServedPki
  /** One directory of the mount, for whoever proves to hold a key; nothing hangs on the caller. */
  acmeDirectory(mountPath: string, directory: Directory): AcmeServer
  readonly inclusions: WorkspaceInclusions
  readonly eventStreams: EventStreams
  /** For those who hold the address of a log. */
  readonly runLogs: RunLogs
}

/** What the HTTP server needs on top; only the embedded engine is one. */
export interface ServedEngine extends ServingEngine {
  /** Whom the engine itself acts as: the site administrator. */
  readonly caller: Caller
  /** For those who hold an address for an upload or a download, whoever they are. */
  readonly stateTransfers: StateTransfers
  /** For those who hold an upload address for a configuration. */
  readonly configurationUploads: ConfigurationUploads
  /**
   * Throws `EngineError("unauthenticated")` unless the token is known, unexpired and has a use left, which this takes. A caller
   * of the kind `service` has rights on certificates only, and may be bound to the addresses of its clients: without one it is
   * refused.
   */
  authenticate(token: string, use?: TokenUse): Promise<Caller>
  /** For a request that has just come, to be handed to the two that it asks first. */
  requestSnapshot(): RequestSnapshot
  /** The same engine, acting for a caller; what it does with keys is recorded in the trail of the request, whose id events name. */
  as(caller: Caller, trail?: AuditTrail, requestId?: string): ServingEngine
  readonly audit: Audit
  /** Which mounts there are at this moment, for whoever has to find one on the way to asking who asks. */
  mountTable(requestSnapshot?: RequestSnapshot): Promise<MountTable>
  /** The same of auth methods. */
  authMethodTable(requestSnapshot?: RequestSnapshot): Promise<AuthMethodTable>
  /** Resolves when the store answers. */
  ready(): Promise<void>
  /** Metrics that the engine was opened with, for its server to record and expose. */
  readonly metrics: Metrics | undefined
  /** Asks whoever follows events to go on elsewhere: the server that they are connected to stops. */
  endEventStreams(): void
  /** What there is to watch of authorities; of a moment ago at most. Never throws. */
  authorityFigures(): Promise<AuthorityFigures>
}

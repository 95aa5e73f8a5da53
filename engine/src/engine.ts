// The port of all callers. It has two implementations: embedded (with a database) and remote (over HTTP). A document on the wire must
// therefore contain all that a method returns: an organization by its name, and no internal data. Such values are called views
// (`WorkspaceView`); each family is an interface in a file of its own (`workspaces/workspace/workspace-api.ts`).
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
import type { CertificateLogins } from "./access/certificates/certificate-login-api.ts"
import type { KubernetesLogins } from "./access/kubernetes/kubernetes-login-api.ts"
import type { LockedUsers, UserpassMethod } from "./access/userpass/userpass-api.ts"
import type { MountTable } from "./pki/mounts/mount-directory.ts"
import type { AuthorityFigures } from "./pki/statistics/mount-metrics.ts"
import type { Leases, ServedLeases } from "./access/leases/lease.ts"
import type { CertificateInventory } from "./pki/issuance/certificate-inventory.ts"
import type { BlockedKeys } from "./pki/keys/blocked-key.ts"
import type { Mounts } from "./pki/mounts/mount.ts"
import type { Pki, ServedPki } from "./pki/mounts/pki.ts"
import type { EstServer, FindEstLabel } from "./pki/est/est.ts"
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
 * All operations of Chancery, with the rights of the engine's caller. Instants are milliseconds since the Unix epoch. Lists have pages of
 * at most 100 items (`PageRequest`), and a page past the end is empty.
 *
 * Methods throw `EngineError`. Its `code` is the same in every implementation:
 * - `not-found`: the resource is missing, or the caller may not see it or do this to it; the error is the same
 * - `forbidden`: no policy of the caller allows access to a mount, to its resources or to its access rules
 * - `invalid`: the input breaks rules; `faults` lists all of them, one per field
 * - `bad-request`: the input is wrong but no field is, for example a character that the database cannot store
 * - `conflict`, `unprocessable`: the input is valid, but the current state or a rule across resources does not allow it
 * - `unauthenticated`: the token is unknown, expired or revoked
 * - `busy`, `rate-limited`: nothing was changed; retry after `retryAfterMs`
 * - `unavailable`: remote engines only; there was no usable answer, and a change may have been made
 * - `too-large`: a state, or a request to a remote engine, exceeds the maximum size
 *
 * Close the engine when done. Only the engine that opened a database or a connection closes it.
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
  readonly lockedUsers: LockedUsers
  readonly leases: Leases
  readonly mounts: Mounts
  /** Returns logins of the `cert` auth method at a path below `auth/`. If there is none, its methods throw `not-found`. */
  certificateLogins(methodPath: string): CertificateLogins
  /** Returns logins of the `kubernetes` auth method at a path below `auth/`. If there is none, its methods throw `not-found`. */
  kubernetesLogins(methodPath: string): KubernetesLogins
  /** Returns the CA at a mount path. If there is none, its methods throw `not-found`. */
  pki(mountPath: string): Pki
  /**
   * Returns administration of ACME on a mount: accounts, orders and account bindings. If there is no mount, its methods throw
   * `not-found`.
   */
  acme(mountPath: string): AcmeManagement
  /** Returns users and logins of the `userpass` auth method at a path below `auth/`. If there is none, its methods throw `not-found`. */
  userpass(methodPath: string): UserpassMethod
  /** Returns roles of the AppRole auth method at a path below `auth/`. If there is none, its methods throw `not-found`. */
  appRoles(methodPath: string): AppRoleMethod
}

/** The engine for a server. It also returns what responses need in addition to their data, in one read of the database. */
export interface ServingEngine extends Engine {
  readonly leases: ServedLeases
  readonly visibleMounts: VisibleMounts
  pki(mountPath: string): ServedPki
  /** Returns one ACME directory of the mount. Clients prove themselves by their keys; the caller has no effect. */
  acmeDirectory(mountPath: string, directory: Directory): AcmeServer
  /** Returns EST of a mount. The caller is the client that `authenticate` has returned. */
  est(mountPath: string): EstServer
  readonly inclusions: WorkspaceInclusions
  readonly eventStreams: EventStreams
  /** Needs no rights: the URL of a log is the credential. */
  readonly runLogs: RunLogs
}

/** The engine for the HTTP server. Only the embedded engine implements it. */
export interface ServedEngine extends ServingEngine {
  /** Caller of the engine itself: the site administrator. */
  readonly caller: Caller
  /** Needs no rights: the URL of an upload or a download is the credential. */
  readonly stateTransfers: StateTransfers
  /** Needs no rights: the URL of an upload is the credential. */
  readonly configurationUploads: ConfigurationUploads
  /**
   * Returns the caller of a token, and uses up one use if their number is limited. Throws `EngineError("unauthenticated")` if the token
   * is unknown, expired or used up. A caller of kind `service` has rights on certificates only. Its token may be bound to client
   * addresses, and is rejected if the address is unknown.
   */
  authenticate(token: string, use?: TokenUse): Promise<Caller>
  /** Returns the cache versions for one new request; pass it to `mountTable` and `authMethodTable`. */
  requestSnapshot(): RequestSnapshot
  /** Returns the same engine for another caller. Uses of keys are recorded in `trail`, and events name `requestId`. */
  as(caller: Caller, trail?: AuditTrail, requestId?: string): ServingEngine
  readonly audit: Audit
  /** Returns the current mounts, which are needed to route a request before its caller is known. */
  mountTable(requestSnapshot?: RequestSnapshot): Promise<MountTable>
  /** Returns the current auth methods. */
  authMethodTable(requestSnapshot?: RequestSnapshot): Promise<AuthMethodTable>
  /** Returns the mount that has registered a label of `/.well-known/est`, and its path policy. The empty label is the path without one. */
  readonly findEstLabel: FindEstLabel
  /** Resolves if the database answers and its disk has room for writes. */
  ready(): Promise<void>
  /** Metrics that the engine was opened with, for its server to record and expose. */
  readonly metrics: Metrics | undefined
  /** Ends event streams when the server stops, so that their clients reconnect to another server. */
  endEventStreams(): void
  /** Returns figures of the CAs for monitoring, which may be some seconds old. Never throws. */
  authorityFigures(): Promise<AuthorityFigures>
}

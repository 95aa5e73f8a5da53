import type { Generated } from "kysely"
import type { AuthMethodType } from "../../access/logins/auth-method.ts"
// Row types, one per table, the same for both dialects. Instants are epoch milliseconds, booleans are 0 or 1, lists and objects are JSON
// text. Names that compare case-insensitively are also stored folded.
export type Flag = 0 | 1

export interface Tables {
  generations: GenerationRow
  settings: SettingRow
  bulk_actions: BulkActionRow
  bulk_action_parts: BulkActionPartRow
  organizations: OrganizationRow
  users: UserRow
  organization_memberships: OrganizationMembershipRow
  teams: TeamRow
  team_members: TeamMemberRow
  team_workspaces: TeamWorkspaceRow
  team_projects: TeamProjectRow
  tokens: TokenRow
  projects: ProjectRow
  project_bindings: ProjectBindingRow
  ssh_keys: SshKeyRow
  terraform_versions: TerraformVersionRow
  agent_pools: AgentPoolRow
  agent_pool_workspaces: AgentPoolWorkspaceRow
  agent_pool_projects: AgentPoolProjectRow
  oauth_clients: OauthClientRow
  oauth_client_projects: OauthClientProjectRow
  oauth_tokens: OauthTokenRow
  app_installations: AppInstallationRow
  workspaces: WorkspaceRow
  tags: TagRow
  workspace_bindings: WorkspaceBindingRow
  remote_state_consumers: RemoteStateConsumerRow
  retention_policies: RetentionPolicyRow
  state_versions: StateVersionTable
  state_contents: StateContentRow
  state_documents: StateDocumentRow
  state_chunks: StateChunkRow
  workspace_resources: WorkspaceResourceRow
  workspace_resource_listings: WorkspaceResourceListingRow
  state_version_outputs: StateVersionOutputRow
  runs: RunRow
  run_comments: RunCommentRow
  run_events: RunEventRow
  run_logs: RunLogRow
  run_documents: RunDocumentRow
  configuration_versions: ConfigurationVersionRow
  configuration_contents: ConfigurationContentRow
  variables: VariableRow
  assessment_results: AssessmentResultRow
  leases: LeaseRow
  mounts: MountRow
  auth_methods: AuthMethodRow
  app_roles: AppRoleRow
  app_role_secret_ids: SecretIdRow
  token_roles: TokenRoleRow
  ca_keys: CaKeyRow
  issuers: IssuerRow
  roles: RoleRow
  mount_settings: MountSettingRow
  mount_secrets: MountSecretRow
  certificate_login_configs: CertificateLoginConfigRow
  certificate_login_roles: CertificateLoginRoleRow
  certificate_login_crls: CertificateLoginCrlRow
  kubernetes_clusters: KubernetesClusterRow
  kubernetes_roles: KubernetesRoleRow
  userpass_users: UserpassUserRow
  certificates: CertificateTable
  certificate_names: CertificateNameRow
  revocations: RevocationRow
  crls: CrlRow
  crl_segments: CrlSegmentRow
  certificate_metadata: CertificateMetadataRow
  certificate_leases: CertificateLeaseTable
  tidy_runs: TidyRunRow
  mount_statistics: MountStatisticsRow
  acme_accounts: AcmeAccountRow
  acme_bindings: AcmeBindingRow
  acme_orders: AcmeOrderRow
  acme_authorizations: AcmeAuthorizationRow
  acme_order_authorizations: AcmeOrderAuthorizationRow
  acme_challenges: AcmeChallengeRow
  acme_nonces: AcmeNonceRow
  acme_registrations: AcmeRegistrationRow
  acme_certificates: AcmeCertificateRow
  acme_renewal_signals: AcmeRenewalSignalRow
  acme_renewal_serial_numbers: AcmeRenewalSerialNumberRow
  blocked_keys: BlockedKeyRow
  enrolments: EnrolmentRow
  est_labels: EstLabelRow
  entity_names: EntityNameRow
  policies: PolicyRow
  policy_attachments: PolicyAttachmentRow
  events: EventRow
  swept_events: SweptEventsRow
  webhooks: WebhookRow
  webhook_dead_letters: WebhookDeadLetterRow
}

/** One row for each family of cached facts. A change of a fact increments the number (docs/decisions/cache-versions.md). */
export interface GenerationRow {
  family: string
  number: number
}

/** Site-wide settings, as JSON text. */
export interface SettingRow {
  name: string
  value: string
}

export interface OrganizationRow {
  id: string
  name: string
  name_folded: string
  email: string
  created_at: number
  default_execution_mode: string
  default_agent_pool_id: string | null
  allow_force_delete_workspaces: Flag
  assessments_enforced: Flag
  plan: string
  cost_estimation_enabled: Flag
  collaborator_auth_policy: string
  /** JSON object of the settings that differ from their defaults; null if there are none. */
  settings: string | null
  /** Null if the organization is older than this setting: off until the setting is made. */
  remote_operations: Flag | null
  /** Last claim of a run of the execution mode `remote`. Null if there was none. */
  executor_seen_at: number | null
}

export interface UserRow {
  id: string
  username: string
  username_folded: string
  email: string
  /** Null if there is no email address. */
  email_folded: string | null
  site_admin: Flag
  service_account: Flag
  created_at: number
  /** 1 if an invitation created the user and was not accepted yet. */
  invited: Flag | null
}

/** Entity name of a user or team. It remains after deletion. */
export interface EntityNameRow {
  name_folded: string
  name: string
  entity_id: string
  /** Name without its number. `name_folded` is this name, followed by `number` unless that is 1. */
  base_folded: string
  number: number
}

export interface OrganizationMembershipRow {
  id: string
  organization_id: string
  user_id: string
  status: string
  created_at: number
}

export interface TeamRow {
  id: string
  organization_id: string
  name: string
  name_folded: string
  visibility: string
  /** JSON object of the organization permissions that are true. */
  access: string
  created_at: number
  sso_team_id: string | null
  /** Null if the team is older than this setting: its members may not manage the token. */
  members_manage_token: Flag | null
}

export interface TeamMemberRow {
  team_id: string
  user_id: string
}

export interface TeamWorkspaceRow {
  id: string
  team_id: string
  workspace_id: string
  access: string
  /** JSON of the custom permissions; null unless `access` is custom. */
  custom: string | null
}

export interface TeamProjectRow {
  id: string
  team_id: string
  project_id: string
  /** `read` for custom access, so that servers of earlier releases grant no more. */
  access: string
  /** JSON of the custom access; used only if `access` is `read`. */
  custom: string | null
}

export interface TokenRow {
  id: string
  /** SHA-256 of the secret, hex. The secret itself is shown once and never stored. */
  hash: string
  kind: string
  /** Exactly one owner column is set, depending on `kind`. */
  user_id: string | null
  team_id: string | null
  organization_id: string | null
  agent_pool_id: string | null
  description: string
  created_by: string | null
  created_at: number
  last_used_at: number | null
  expires_at: number | null
  /** Parent of a service token. */
  parent_id: string | null
  /** Null if unlimited. */
  uses_left: number | null
  last_renewed_at: number | null
  /** JSON object of the immutable properties of a service token. */
  service: string | null
  /** JSON list of CIDR blocks; null for any address. */
  bound_cidrs: string | null
  /** Auth method of the login that created a service token. */
  auth_method_id: string | null
  /** Set if the token is only for the audit trail of this organization. */
  audit_organization_id: string | null
}

export interface PolicyRow {
  name: string
  text: string
  /** JSON list of the rules parsed from the text. */
  rules: string
}

/** Exactly one of `user_id`, `team_id` and `token_id` is set. */
export interface PolicyAttachmentRow {
  policy_name: string
  user_id: string | null
  team_id: string | null
  token_id: string | null
}

export interface ProjectRow {
  id: string
  organization_id: string
  name: string
  name_folded: string
  description: string
  is_default: Flag
  created_at: number
  auto_destroy_activity_duration: string | null
  /** Null inherits the organization's mode. */
  default_execution_mode: string | null
  default_agent_pool_id: string | null
  /** Implied if there is an agent pool; null if the project is older than this setting. */
  overwrites_agent_pool: Flag | null
}

export interface ProjectBindingRow {
  id: string
  organization_id: string
  project_id: string
  key: string
  key_folded: string
  value: string
  created_at: number
  /** JSON list of tag owners in order; null if there are none. */
  owners: string | null
}

export interface SshKeyRow {
  id: string
  organization_id: string
  name: string
  value_sealed: Uint8Array
  created_at: number
}

export interface TerraformVersionRow {
  id: string
  version: string
  /** Sort key that `versionOrder` makes of the version. */
  version_order: string
  /** JSON of `TerraformBinary[]`. */
  archs: string
  official: Flag
  deprecated: Flag
  deprecated_reason: string | null
  enabled: Flag
  beta: Flag
  created_at: number
}

export interface BulkActionRow {
  id: string
  organization_id: string
  by_kind: string
  by_id: string
  idempotency_key: string
  /** The whole request, as one text. */
  request: string
  total_count: number
  created_at: number
  expires_at: number
}

export interface BulkActionPartRow {
  bulk_action_id: string
  position: number
  /** JSON, like `results`, which are null until the part is done. */
  workspace_ids: string
  results: string | null
}

export interface AgentPoolRow {
  id: string
  organization_id: string
  name: string
  name_folded: string
  created_at: number
  /** Null if the pool is older than this setting: it serves the whole organization. */
  organization_scoped: Flag | null
  /** Last claim of an agent. Null if there was none. */
  agent_seen_at: number | null
}

export interface AgentPoolWorkspaceRow {
  agent_pool_id: string
  workspace_id: string
  /** `allowed` or `excluded`. */
  rule: string
}

export interface AgentPoolProjectRow {
  agent_pool_id: string
  project_id: string
}

export interface OauthClientRow {
  id: string
  organization_id: string
  name: string | null
  service_provider: string
  http_url: string
  api_url: string
  created_at: number
  consumer_key: string | null
  rsa_public_key: string | null
  secret_sealed: Uint8Array | null
  /** Null means 1: a server of an earlier release created the client. */
  organization_scoped: Flag | null
  agent_pool_id: string | null
}

export interface OauthClientProjectRow {
  oauth_client_id: string
  project_id: string
}

export interface OauthTokenRow {
  id: string
  oauth_client_id: string
  organization_id: string
  service_provider_user: string | null
  value_sealed: Uint8Array
  ssh_key_sealed: Uint8Array | null
  created_at: number
}

export interface AppInstallationRow {
  id: string
  organization_id: string
  name: string
  installation_id: number
  created_at: number
}

export interface WorkspaceRow {
  id: string
  organization_id: string
  project_id: string
  name: string
  name_folded: string
  /** Folded name in reverse, so that a suffix search is a range scan. */
  name_reversed: string
  description: string | null
  created_at: number
  updated_at: number
  latest_change_at: number
  environment: string
  source: string
  source_name: string | null
  source_url: string | null
  /** The workspace's own value, used if `overwrites_execution_mode` is 1. */
  execution_mode: string
  agent_pool_id: string | null
  overwrites_execution_mode: Flag
  overwrites_agent_pool: Flag
  allow_destroy_plan: Flag
  assessments_enabled: Flag
  auto_apply: Flag
  auto_apply_run_trigger: Flag
  auto_destroy_at: number | null
  auto_destroy_status: string | null
  auto_destroy_settled_at: number | null
  auto_destroy_activity_duration: string | null
  inherits_project_auto_destroy: Flag
  file_triggers_enabled: Flag
  global_remote_state: Flag
  project_remote_state: Flag
  queue_all_runs: Flag
  speculative_enabled: Flag
  structured_run_output_enabled: Flag
  engine_version: string
  trigger_patterns: string
  trigger_prefixes: string
  working_directory: string | null
  /** JSON of the VCS binding, or null. `oauth_token_id` and `app_installation_id` repeat its references as foreign keys. */
  vcs_repo: string | null
  oauth_token_id: string | null
  app_installation_id: string | null
  ssh_key_id: string | null
  /** Null if the workspace is unlocked. */
  locked_at: number | null
  locked_by_kind: string | null
  locked_by_id: string | null
  locked_reason: string | null
  /** Null, like `lock_ttl_ms`, for a lock that does not expire. */
  lock_ends_at: number | null
  lock_ttl_ms: number | null
  /** Number of locks so far. A state version records the number of the lock under which it was made. */
  lock_number: number
  current_run_id: string | null
  current_run_status: string | null
  current_run_created_at: number | null
  current_state_version_id: string | null
  current_configuration_version_id: string | null
  current_assessment_result_id: string | null
  last_assessment_result_at: number | null
  resource_count: number
  /** Metrics over the past 30 finished runs, written in the transaction that finishes a run. Null before the first run. */
  apply_duration_average_ms: number | null
  plan_duration_average_ms: number | null
  policy_check_failures: number | null
  run_failures: number | null
  kpis_runs_count: number | null
}

export interface TagRow {
  id: string
  organization_id: string
  name: string
  name_folded: string
  created_at: number
}

/**
 * Flat tag or tag binding of a workspace. A row with a value is a binding. A row without a value is a flat tag if it has a `tag_id`, and a
 * binding if `is_binding` is 1.
 */
export interface WorkspaceBindingRow {
  id: string
  organization_id: string
  workspace_id: string
  tag_id: string | null
  key: string
  key_folded: string
  value: string
  created_at: number
  /** JSON list of tag owners in order; null if there are none. */
  owners: string | null
  is_binding: Flag | null
}

export interface RemoteStateConsumerRow {
  workspace_id: string
  consumer_id: string
}

export interface RetentionPolicyRow {
  id: string
  /** `site`, `organization` or `workspace`. */
  target_kind: string
  target_id: string
  kind: string
  delete_older_than_days: number | null
}

export interface StateVersionRow {
  id: string
  workspace_id: string
  organization_id: string
  serial: number
  lineage: string | null
  md5: string
  size: number | null
  status: string
  intermediate: Flag
  lock_number: number
  created_at: number
  created_by_kind: string | null
  created_by_id: string | null
  run_id: string | null
  terraform_version: string | null
  format_version: number | null
  resource_count: number | null
  /** JSON summaries parsed from the state. */
  resources: string | null
  modules: string | null
  providers: string | null
  resources_processed: Flag
  vcs_commit_sha: string | null
  vcs_commit_url: string | null
}

export interface StateVersionTable extends StateVersionRow {
  /** Number of attempts to parse a state that is not processed yet. */
  reading_attempts: Generated<number>
}

/** Document of a state version, or an attempt to upload one. */
export interface StateDocumentRow {
  id: string
  state_version_id: string
  /** `state` or `json-state`. */
  document: string
  /** `receiving`, `kept` (one per document of a version) or `abandoned`. */
  status: string
  /** Null while `receiving`. */
  chunk_count: number | null
  /** Size of the plain document in bytes. */
  size: number | null
  started_at: number
}

/** Chunk of a state document, compressed and sealed. */
export interface StateChunkRow {
  document_id: string
  chunk: number
  sealed: Uint8Array
}

/** Resource instance of the state version that the workspace's resources were last listed from. */
export interface WorkspaceResourceRow {
  id: string
  workspace_id: string
  address: string
  name: string
  module: string
  provider: string
  provider_type: string
  name_index: string | null
  /** Keyed, because the digested values may be secrets that are easy to guess. */
  digest: string
  created_at: number
  updated_at: number
  state_version_id: string
}

export interface WorkspaceResourceListingRow {
  workspace_id: string
  state_version_id: string
}

/** State document as servers of earlier releases stored it. */
export interface StateContentRow {
  state_version_id: string
  /** `state`, `json-state` or `json-outputs`. */
  document: string
  chunk: number
  sealed: Uint8Array
}

export interface StateVersionOutputRow {
  id: string
  state_version_id: string
  position: number
  name: string
  sensitive: Flag
  type: string
  /** Sealed JSON text: outputs may contain secrets of the state. */
  value_sealed: Uint8Array
  detailed_type: string
}

export interface RunRow {
  id: string
  workspace_id: string
  organization_id: string
  status: string
  message: string
  source: string
  is_destroy: Flag
  auto_apply: Flag
  plan_only: Flag
  refresh_only: Flag
  has_changes: Flag
  created_at: number
  created_by_kind: string | null
  created_by_id: string | null
  confirmed_by_kind: string | null
  confirmed_by_id: string | null
  /** JSON object from status to instant. */
  status_timestamps: string
  configuration_version_id: string | null
  plan_id: string
  apply_id: string
  plan_duration_ms: number | null
  apply_duration_ms: number | null
  policy_failed: Flag
  /** Set when the run reaches a final status. */
  finished_at: number | null
  operation: string
  refresh: Flag
  save_plan: Flag
  allow_empty_apply: Flag
  allow_config_generation: Flag
  engine_version: string | null
  /** JSON arrays. */
  target_addrs: string
  replace_addrs: string
  variables_sealed: Uint8Array | null
  /** JSON objects. */
  plan_counts: string | null
  apply_counts: string | null
  /** Run claim: all columns with `claim` in their names are set, or none. */
  claim_id: string | null
  claimed_by_kind: string | null
  claimed_by_id: string | null
  claimed_by_name: string | null
  claimed_at: number | null
  claim_expires_at: number | null
  claim_lease_ms: number | null
  cancel_requested_at: number | null
  input_state_version_id: string | null
  /** JSON arrays; null for none. */
  comment_ids: string | null
  event_ids: string | null
  waiting_reason: string | null
  wait_recorded_at: number | null
}

export interface RunCommentRow {
  id: string
  run_id: string
  body: string
  created_at: number
  created_by_kind: string | null
  created_by_id: string | null
}

export interface RunEventRow {
  id: string
  run_id: string
  /** Orders the events of a run. */
  number: number
  action: string
  description: string
  created_at: number
  actor_kind: string | null
  actor_id: string | null
  comment_id: string | null
}

export interface RunLogRow {
  run_id: string
  stage: string
  /** Offset in the log, in bytes. */
  start: number
  size: number
  sealed: Uint8Array
}

export interface RunDocumentRow {
  run_id: string
  document: string
  chunk: number
  sealed: Uint8Array
}

export interface ConfigurationContentRow {
  configuration_version_id: string
  chunk: number
  sealed: Uint8Array
}

export interface ConfigurationVersionRow {
  id: string
  workspace_id: string
  organization_id: string
  source: string
  status: string
  speculative: Flag
  provisional: Flag
  auto_queue_runs: Flag
  error: string | null
  error_message: string | null
  created_at: number
  ingress_attributes_id: string | null
  /** JSON object. */
  ingress_attributes: string | null
  readme_id: string | null
  readme: string | null
  created_by_kind: string | null
  created_by_id: string | null
  content_digest: string | null
}

export interface VariableRow {
  id: string
  workspace_id: string
  organization_id: string
  key: string
  category: string
  value_sealed: Uint8Array
  description: string
  hcl: Flag
  sensitive: Flag
  version_id: string
  created_at: number
}

export interface AssessmentResultRow {
  id: string
  workspace_id: string
  organization_id: string
  drifted: Flag
  succeeded: Flag
  error_message: string | null
  created_at: number
}

export interface LeaseRow {
  name: string
  holder: string
  fence: number
  /** 0 if no server holds the lease. */
  expires_at: number
  /** Time at which the last successful run of the task started; null if there was none. */
  done_at: number | null
}

export interface MountRow {
  id: string
  path: string
  type: "pki"
  description: string
  /** JSON object of the settings of the mount. */
  config: string
  accessor: string
  uuid: string
  created_at: number
}

export interface BlockedKeyRow {
  digest: string
  source: string
  mount: string
  serial_number: Uint8Array | null
  comment: string
  created_at: number
}

export interface EnrolmentRow {
  id: string
  mount_id: string
  protocol: string
  operation: string
  path: string
  policy: string
  decider: string
  accessor: string
  display_name: string
  /** DER. */
  csr: Uint8Array
  csr_sha256: string
  subject: string
  /** JSON array. */
  names: string
  state: string
  created_at: number
  expires_at: number
  retry_after_ms: number
  asked_at: number
  decided_at: number | null
  decided_by: string
  comment: string
  serial_number: Uint8Array | null
  superseded_at: number | null
}

export interface TokenRoleRow {
  name: string
  /** JSON object. */
  definition: string
}

export interface AuthMethodRow {
  id: string
  path: string
  type: AuthMethodType
  description: string
  /** JSON object of the method's settings. */
  config: string
  accessor: string
  uuid: string
  created_at: number
}

export interface AppRoleRow {
  method_id: string
  /** In lower case. */
  name: string
  role_id: string
  /** JSON object of all other properties. */
  definition: string
}

export interface SecretIdRow {
  accessor: string
  method_id: string
  role_name: string
  /** Keyed, because a custom secret id may be easy to guess. */
  digest: string
  /** Null if unlimited. */
  uses_left: number | null
  created_at: number
  updated_at: number
  expires_at: number | null
  /** JSON object of the immutable properties. */
  definition: string
}

export interface CaKeyRow {
  id: string
  mount_id: string
  name: string | null
  /** SubjectPublicKeyInfo, DER. */
  public_key: Uint8Array
  /** PKCS#8, DER. */
  private_key_sealed: Uint8Array
  created_at: number
}

export interface IssuerRow {
  id: string
  mount_id: string
  name: string | null
  key_id: string | null
  certificate: Uint8Array
  /** JSON object. */
  settings: string
  revoked_at: number | null
  created_at: number
}

export interface RoleRow {
  mount_id: string
  name: string
  /** JSON object. */
  definition: string
}

export interface MountSettingRow {
  mount_id: string
  name: string
  /** JSON object. */
  value: string
}

export interface MountSecretRow {
  mount_id: string
  name: string
  value_sealed: Uint8Array
}

export interface KubernetesClusterRow {
  auth_method_id: string
  /** JSON object. */
  config: string
  reviewer_token_sealed: Uint8Array | null
}

export interface EstLabelRow {
  label: string
  mount_id: string
}

export interface KubernetesRoleRow {
  auth_method_id: string
  name: string
  /** JSON object. */
  definition: string
}

export interface UserpassUserRow {
  auth_method_id: string
  /** In lower case. */
  name: string
  /** JSON object of the terms of tokens. */
  definition: string
  /** Hash of scrypt or bcrypt, with its parameters. */
  password_hash: string
  failed_logins: number
  last_failed_at: number | null
}

export interface CertificateLoginConfigRow {
  auth_method_id: string
  /** JSON object. */
  config: string
}

export interface CertificateLoginRoleRow {
  auth_method_id: string
  name: string
  /** JSON object. */
  definition: string
}

export interface CertificateLoginCrlRow {
  auth_method_id: string
  name: string
  /** Empty for a list that was uploaded. */
  url: string
  /** Name, DER. */
  issuer: Uint8Array
  digest: string
  next_update: number | null
  stored_at: number
  /** DER or PEM. */
  content: Uint8Array
}

export interface CertificateRow {
  /** Increases in the order of issuance. */
  number: number
  mount_id: string
  serial_number: Uint8Array
  certificate: Uint8Array
  issuer_id: string | null
  role: string | null
  common_name: string
  not_before: number
  not_after: number
  revoked_at: number | null
  /** Partition key of the certificate and its names (`pki/issuance/certificate-partitions.ts`). */
  filed_at: number
}

export interface CertificateTable extends Omit<CertificateRow, "number" | "revoked_at" | "filed_at"> {
  number: Generated<number>
  revoked_at: Generated<number | null>
  filed_at: Generated<number>
}

export interface CertificateNameRow {
  mount_id: string
  name: string
  certificate_number: number
  filed_at: Generated<number>
}

export interface CertificateMetadataRow {
  mount_id: string
  serial_number: Uint8Array
  issuer_id: string
  role: string
  expires_at: number
  /** Base64. */
  metadata: string
}

export interface CertificateLeaseRow {
  id: string
  mount_id: string
  serial_number: Uint8Array
  issued_at: number
  expires_at: number
  /** Token that owns the lease; null if there was none or it has ended. */
  token_id: string | null
  ends_with_token: number
}

export interface CertificateLeaseTable extends Omit<CertificateLeaseRow, "token_id" | "ends_with_token"> {
  token_id: Generated<string | null>
  ends_with_token: Generated<number>
}

export interface TidyRunRow {
  mount_id: string
  /** Number of the run within the mount. */
  number: number
  /** Number of steps of the run so far. */
  step: number
  state: string
  /** JSON of all other properties of the run. */
  run: string
  automatic_finished_at: number | null
}

export interface RevocationRow {
  mount_id: string
  /** CRL that the revocation is on (`pki/crl/crl-list.ts`); empty while the issuer is not known. */
  list: string
  /** Increases in the order of revocation in the mount. */
  number: number
  serial_number: Uint8Array
  /** The last 16 bits of the serial number. */
  shard_key: number
  issuer_id: string | null
  revoked_at: number
  reason: string
  not_after: number
  /** An element of `revokedCertificates`, DER. */
  entry: Uint8Array
}

export interface MountStatisticsRow {
  mount_id: string
  counted_at: number
  /** JSON. */
  counts: string
}

export interface CrlRow {
  mount_id: string
  list: string
  shard_count: number
  shard_index: number
  /** Fence of the lease under which the CRL was last built. */
  fence: number
  /** Number of times that entries were removed from the CRL. */
  removals: number
  /** JSON of facts about the complete CRL; null before it is first built. */
  complete: string | null
  /** DER before and after the entries. */
  head: Uint8Array | null
  tail: Uint8Array | null
  delta: string | null
  delta_der: Uint8Array | null
}

export interface CrlSegmentRow {
  mount_id: string
  list: string
  shard_count: number
  shard_index: number
  epoch: number
  position: number
  entries: Uint8Array
}

export interface AcmeAccountRow {
  id: string
  mount_id: string
  /** Path of the ACME directory below the mount. */
  directory: string
  thumbprint: string
  /** JSON. */
  jwk: string
  status: string
  /** JSON, a list. */
  contact: string
  terms_agreed: Flag
  /** JSON of the external account binding, as the client sent it. */
  binding: string | null
  binding_id: string | null
  created_at: number
  status_at: number
}

export interface AcmeBindingRow {
  mount_id: string
  id: string
  directory: string
  key_sealed: Uint8Array
  created_at: number
  expires_at: number | null
}

export interface AcmeOrderRow {
  id: string
  mount_id: string
  account_id: string
  state: string
  created_at: number
  expires_at: number
  /** JSON, a list. */
  identifiers: string
  not_before: number | null
  not_after: number | null
  profile: string | null
  replaces: string | null
  csr: Uint8Array | null
  serial_number: Uint8Array | null
  /** JSON. */
  error: string | null
  attempts: number
  /** Null unless the order is processing. */
  attempt_at: number | null
}

export interface AcmeAuthorizationRow {
  id: string
  mount_id: string
  account_id: string
  type: string
  value: string
  wildcard: Flag
  state: string
  created_at: number
  expires_at: number
}

export interface AcmeOrderAuthorizationRow {
  order_id: string
  position: number
  authorization_id: string
}

export interface AcmeChallengeRow {
  authorization_id: string
  type: string
  token: string
  status: string
  validated_at: number | null
  /** JSON. */
  error: string | null
  attempts: number
  /** Time of the next validation attempt; null if none is scheduled. */
  attempt_at: number | null
}

/** ACME account that ordered a certificate. */
export interface AcmeCertificateRow {
  mount_id: string
  serial_number: Uint8Array
  account_id: string
  /** End of validity of the certificate. */
  expires_at: number
}

export interface AcmeRegistrationRow {
  id: string
  mount_id: string
  /** Key of a rate limit: the client address of a new account, the account id of a pre-authorization, or a name of a certificate. */
  address: string
  registered_at: number
}

export interface AcmeRenewalSignalRow {
  id: string
  mount_id: string
  issuer_id: string | null
  explanation_url: string | null
  raised_at: number
  renew_by: number
}

export interface AcmeRenewalSerialNumberRow {
  mount_id: string
  serial_number: Uint8Array
  signal_id: string
}

export interface AcmeNonceRow {
  digest: Uint8Array
  expires_at: number
}

export interface EventRow {
  transaction_id: Generated<number>
  number: Generated<number>
  organization_id: string
  /** Empty if the event concerns no workspace. */
  workspace_id: string
  kind: string
  at: number
  /** JSON object of members that no query searches. */
  details: string
  /** JSON: key and value of each tag binding of the workspace; null if there are none. */
  tags: string | null
  /** JSON: ids of the teams that had access to a deleted workspace. */
  readers: string | null
}

export interface SweptEventsRow {
  id: number
  transaction_id: number
  number: number
  at: number
}

export interface WebhookRow {
  id: string
  organization_id: string
  name: string
  url: string
  secret_sealed: Uint8Array
  enabled: number
  disabled_reason: string | null
  /** JSON object of `kinds`, `workspaces` and `tags`. */
  filter: string
  cursor_transaction: number
  cursor_number: number
  /** Null, like the next three columns, if no delivery will be retried. */
  pending_transaction: number | null
  pending_number: number | null
  pending_attempts: number | null
  pending_at: number | null
  dead_in_a_row: number
  last_delivered_at: number | null
  last_error: string | null
  failing_since: number | null
  created_at: number
}

export interface WebhookDeadLetterRow {
  webhook_id: string
  id: string
  event_id: string
  kind: string
  /** JSON. */
  document: string
  attempts: number
  last_error: string
  failed_at: number
  redelivering: number
}

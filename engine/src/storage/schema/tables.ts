import type { Generated } from "kysely"
import type { AuthMethodType } from "../../access/logins/auth-method.ts"
// Row types, one per table; both dialects have the same. Instants are epoch milliseconds, booleans 0 or 1, lists and
// objects JSON text, names that compare case-insensitively stored folded beside the original.
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
  kubernetes_clusters: KubernetesClusterRow
  kubernetes_roles: KubernetesRoleRow
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

/** Site-wide settings an administrator chooses, JSON text. */
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
  /** JSON object of recorded settings that differ from their defaults; null where none does. */
  settings: string | null
}

export interface UserRow {
  id: string
  username: string
  username_folded: string
  email: string
  /** Null without an email. */
  email_folded: string | null
  site_admin: Flag
  service_account: Flag
  created_at: number
  /** Made by an invitation that was not accepted yet. */
  invited: Flag | null
}

/** Of users and teams, also of those that were deleted. */
export interface EntityNameRow {
  name_folded: string
  name: string
  entity_id: string
  /** The name is this one with the number behind it, unless that is 1. */
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
  /** JSON object of organization permissions that are true. */
  access: string
  created_at: number
  sso_team_id: string | null
  /** Null of teams from before there was a choice: their members do not. */
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
  /** `read` where the access is custom: servers that do not know it yet grant no more. */
  access: string
  /** JSON of a custom access; counts only beside `read`. */
  custom: string | null
}

export interface TokenRow {
  id: string
  /** SHA-256 of the secret, hex. The secret itself is shown once and never stored. */
  hash: string
  kind: string
  /** Exactly one owner column is set, by `kind`. */
  user_id: string | null
  team_id: string | null
  organization_id: string | null
  agent_pool_id: string | null
  description: string
  created_by: string | null
  created_at: number
  last_used_at: number | null
  expires_at: number | null
  /** Of a service token: the one that made it. */
  parent_id: string | null
  /** Null for any number. */
  uses_left: number | null
  last_renewed_at: number | null
  /** Of a service token: JSON object of what stays as it was made. */
  service: string | null
  /** JSON list of text, null for any address. */
  bound_cidrs: string | null
  /** Of a service token: the method it has logged in by. */
  auth_method_id: string | null
  /** Of a token that is for the audit trail of an organization alone. */
  audit_organization_id: string | null
}

export interface PolicyRow {
  name: string
  text: string
  /** JSON list of what the text says. */
  rules: string
}

/** Exactly one of the last three is set. */
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
  /** Null inherits the organization's. */
  default_execution_mode: string | null
  default_agent_pool_id: string | null
  /** Beside a pool it goes without saying; null of projects from before there was more to say. */
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
  /** JSON list of texts in order, or null where there are none. */
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
  /** `versionOrder` of the version. */
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
  /** All that was asked for, as one text. */
  request: string
  total_count: number
  created_at: number
  expires_at: number
}

export interface BulkActionPartRow {
  bulk_action_id: string
  position: number
  /** JSON, as the results, which are null until the part is done. */
  workspace_ids: string
  results: string | null
}

export interface AgentPoolRow {
  id: string
  organization_id: string
  name: string
  name_folded: string
  created_at: number
  /** Null of pools from before there was a choice: they serve the whole organization. */
  organization_scoped: Flag | null
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
  /** Null is true: a server of an earlier release made the client. */
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
  /** The folded name back to front, so that a suffix search is a range scan. */
  name_reversed: string
  description: string | null
  created_at: number
  updated_at: number
  latest_change_at: number
  environment: string
  source: string
  source_name: string | null
  source_url: string | null
  /** The workspace's own value; used while `overwrites_execution_mode` is 1. */
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
  /** JSON of the VCS binding, or null; `oauth_token_id` and `app_installation_id` repeat what it names, for integrity. */
  vcs_repo: string | null
  oauth_token_id: string | null
  app_installation_id: string | null
  ssh_key_id: string | null
  /** Null while unlocked. */
  locked_at: number | null
  locked_by_kind: string | null
  locked_by_id: string | null
  locked_reason: string | null
  /** Null, as the next, of a lock that does not end by itself. */
  lock_ends_at: number | null
  lock_ttl_ms: number | null
  /** Counts this workspace's locks, so that a state version knows under which one it was made. */
  lock_number: number
  current_run_id: string | null
  current_run_status: string | null
  current_run_created_at: number | null
  current_state_version_id: string | null
  current_configuration_version_id: string | null
  current_assessment_result_id: string | null
  last_assessment_result_at: number | null
  resource_count: number
  /** Metrics over the past 30 finished runs, written in the transaction that finishes a run; null before the first. */
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

/** A row with a value is a binding. One without is a flat tag where it has a `tag_id`, and a binding where `is_binding` is 1. */
export interface WorkspaceBindingRow {
  id: string
  organization_id: string
  workspace_id: string
  tag_id: string | null
  key: string
  key_folded: string
  value: string
  created_at: number
  /** JSON list of texts in order, or null where there are none. */
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
  /** How often somebody has begun to read what is not processed. */
  reading_attempts: Generated<number>
}

/** One document of a state version, or an attempt to send it. */
export interface StateDocumentRow {
  id: string
  state_version_id: string
  /** `state` or `json-state`. */
  document: string
  /** `receiving`, `kept` (one per document of a version) or `abandoned`. */
  status: string
  /** Null while receiving. */
  chunk_count: number | null
  /** Bytes of the document itself. */
  size: number | null
  started_at: number
}

/** Sealed and compressed bytes of it. */
export interface StateChunkRow {
  document_id: string
  chunk: number
  sealed: Uint8Array
}

/** One instance in the state that its workspace's were last listed from. */
export interface WorkspaceResourceRow {
  id: string
  workspace_id: string
  address: string
  name: string
  module: string
  provider: string
  provider_type: string
  name_index: string | null
  /** Keyed, since what it is of may hold secrets that are easily guessed. */
  digest: string
  created_at: number
  updated_at: number
  state_version_id: string
}

export interface WorkspaceResourceListingRow {
  workspace_id: string
  state_version_id: string
}

/** The same as servers of earlier releases stored it. */
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
  /** JSON text, sealed: an output can hold what the state holds. */
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
  /** All of a claim, or nothing. */
  claim_id: string | null
  claimed_by_kind: string | null
  claimed_by_id: string | null
  claimed_by_name: string | null
  claimed_at: number | null
  claim_expires_at: number | null
  claim_lease_ms: number | null
  cancel_requested_at: number | null
  input_state_version_id: string | null
  /** JSON array; null for none. */
  comment_ids: string | null
}

export interface RunCommentRow {
  id: string
  run_id: string
  body: string
  created_at: number
  created_by_kind: string | null
  created_by_id: string | null
}

export interface RunLogRow {
  run_id: string
  stage: string
  /** Where it begins in the log, in bytes. */
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
  /** 0 while nobody holds it. */
  expires_at: number
  /** When what it covers was last begun and came to a good end. */
  done_at: number | null
}

export interface MountRow {
  id: string
  path: string
  type: "pki"
  description: string
  /** JSON object of the mount's settings. */
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
  /** JSON object of all else. */
  definition: string
}

export interface SecretIdRow {
  accessor: string
  method_id: string
  role_name: string
  /** Keyed: a secret id that somebody has chosen may be one that can be guessed. */
  digest: string
  /** Null for any number. */
  uses_left: number | null
  created_at: number
  updated_at: number
  expires_at: number | null
  /** JSON object of what stays as it was made. */
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

export interface KubernetesRoleRow {
  auth_method_id: string
  name: string
  /** JSON object. */
  definition: string
}

export interface CertificateRow {
  /** In the order of issuance. */
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
  /** Which partition it is in, and its names are (`pki/certificates/filing.ts`). */
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
  /** Whose it is; null where it is nobody's, or the token has ended. */
  token_id: string | null
  ends_with_token: number
}

export interface CertificateLeaseTable extends Omit<CertificateLeaseRow, "token_id" | "ends_with_token"> {
  token_id: Generated<string | null>
  ends_with_token: Generated<number>
}

export interface TidyRunRow {
  mount_id: string
  /** Of the mount's runs. */
  number: number
  /** How many the run has made. */
  step: number
  state: string
  /** JSON of all else that is known of it. */
  run: string
  automatic_finished_at: number | null
}

export interface RevocationRow {
  mount_id: string
  /** Whose list it is on; empty while the issuer is not known. */
  list: string
  /** In the order of revocation in the mount. */
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
  /** Of the lease under which it was last built. */
  fence: number
  /** How often entries were taken off it. */
  removals: number
  /** JSON of what is known about the list; null before it is first built. */
  complete: string | null
  /** What stands before and after the entries. */
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
  /** The path of its directory below the mount. */
  directory: string
  thumbprint: string
  /** JSON. */
  jwk: string
  status: string
  /** JSON, a list. */
  contact: string
  terms_agreed: Flag
  /** JSON of the binding as it was sent. */
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
  /** Null but while it is processing. */
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
  /** When it is looked at next; null where it is not. */
  attempt_at: number | null
}

/** Of an account that was made, or of an authorization that was asked for ahead of any order. */
export interface AcmeCertificateRow {
  mount_id: string
  serial_number: Uint8Array
  account_id: string
  /** The certificate's end of validity. */
  expires_at: number
}

export interface AcmeRegistrationRow {
  id: string
  mount_id: string
  /** What is counted: by accounts the address they were made from, by authorizations the account's id, by certificates the name. */
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
  /** Empty where the event is about none. */
  workspace_id: string
  kind: string
  at: number
  /** JSON of what nothing is looked for by. */
  details: string
  /** JSON: key and value of each binding of the workspace; null for none. */
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
  /** JSON: `kinds`, `workspaces` and `tags`. */
  filter: string
  cursor_transaction: number
  cursor_number: number
  /** Null, as the three after it, where nothing is to be tried again. */
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

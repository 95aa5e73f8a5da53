// For each alert, series under which it finally fires and series under which it does not, minute by minute in promtool's notation:
// `0+1x300` begins with 0 and adds 1 three hundred times. The clock of such a test begins at 0.

interface AlertCase {
  readonly alert: string
  readonly fires: Series
  readonly quiet: Series
}

type Series = Readonly<Record<string, string>>

/** Time at which the alerts are evaluated, in minutes. */
export const lookedAtMinutes = 300

const day = 86_400
const http = (status: string) => `chancery_http_request_duration_seconds_count{job="chancery",status="${status}"}`
const slow = (le: string) => `chancery_http_request_duration_seconds_bucket{job="chancery",le="${le}"}`
const issuer = `chancery_pki_issuer_expiration_timestamp_seconds{mount="pki",issuer="iss-1",issuer_name="root",signs="true"}`
const crl = (update: string) =>
  `chancery_pki_crl_${update}_update_timestamp_seconds{mount="pki",issuer="iss-1",kind="complete"}`
const transactions = (outcome: string) => `chancery_storage_transactions_total{kind="write",outcome="${outcome}"}`
const validations = (le: string) => `chancery_acme_validation_duration_seconds_bucket{type="http-01",le="${le}"}`
const deliveries = (outcome: string) => `chancery_webhook_deliveries_total{outcome="${outcome}"}`
const orders = (status: string) => `chancery_acme_orders_total{status="${status}"}`
const logins = (outcome: string) => `chancery_logins_total{method="userpass",outcome="${outcome}"}`
const enrolments = (outcome: string) => `chancery_est_requests_total{operation="simpleenroll",outcome="${outcome}"}`
const jobRuns = 'chancery_job_runs_total{exported_job="tidy",outcome="failed"}'
const lastDone = 'chancery_job_last_success_timestamp_seconds{exported_job="tidy"}'
const looks = (result: string) =>
  `controller_runtime_reconcile_${result}total{job="chancery-operator",controller="workspace"}`
const managed = (figure: string) => `chancery_operator_certificate_${figure}{exported_namespace="team",name="web"}`
const never = "0x300"
const steady = "0+60x300"

export const alertCases: readonly AlertCase[] = [
  { alert: "ChanceryIsDown", fires: { 'up{job="chancery"}': "0x300" }, quiet: { 'up{job="chancery"}': "1x300" } },
  {
    alert: "ChanceryIsGone",
    fires: { 'up{job="chancery"}': "0x300" },
    quiet: { 'up{job="chancery",instance="a"}': "0x300", 'up{job="chancery",instance="b"}': "1x300" },
  },
  {
    alert: "RequestsFail",
    fires: { [http("200")]: steady, [http("500")]: "0+2x300" },
    quiet: { [http("200")]: steady, [http("500")]: "0x300", [http("503")]: steady },
  },
  {
    alert: "RequestsAreTurnedAway",
    fires: { [http("200")]: steady, [http("503")]: "0+6x300" },
    quiet: { [http("200")]: steady, [http("503")]: "0+1x300" },
  },
  {
    alert: "RequestsAreSlow",
    fires: { [slow("1")]: steady, [slow("5")]: "0+70x300", [slow("+Inf")]: "0+70x300" },
    quiet: { [slow("1")]: steady, [slow("5")]: steady, [slow("+Inf")]: steady },
  },
  {
    alert: "StorageFails",
    fires: { [transactions("failed")]: "0+1x300" },
    quiet: { [transactions("failed")]: never, [transactions("done")]: steady },
  },
  {
    alert: "StorageIsBusy",
    fires: { [transactions("busy")]: "0+1x300", [transactions("done")]: steady },
    quiet: { [transactions("busy")]: "0+1x300", [transactions("done")]: "0+600x300" },
  },
  {
    alert: "ReadReplicaIsLeftOut",
    fires: { 'chancery_storage_read_replica_up{replica="db-2",instance="a"}': "0x300" },
    quiet: {
      'chancery_storage_read_replica_up{replica="db-2",instance="a"}': "0x300",
      'chancery_storage_read_replica_up{replica="db-2",instance="b"}': "1x300",
    },
  },
  {
    alert: "StorageQueueStands",
    fires: { 'chancery_storage_waiting{kind="write"}': "40x300" },
    quiet: { 'chancery_storage_waiting{kind="write"}': "40 40 0 40 40 0 40 0 40 0 40 0 40 0x300" },
  },
  {
    alert: "EventLoopLags",
    fires: { 'nodejs_eventloop_lag_p99_seconds{job="chancery"}': "0.9x300" },
    quiet: { 'nodejs_eventloop_lag_p99_seconds{job="chancery"}': "0.02x300" },
  },
  {
    alert: "FileDescriptorsRunOut",
    fires: { 'process_open_fds{job="chancery"}': "900x300", 'process_max_fds{job="chancery"}': "1024x300" },
    quiet: { 'process_open_fds{job="chancery"}': "90x300", 'process_max_fds{job="chancery"}': "1024x300" },
  },
  {
    alert: "CertificateAuthorityExpires",
    fires: { [issuer]: `${20 * day}x300` },
    quiet: { [issuer]: `${90 * day}x300`, [issuer.replace("true", "false")]: `${day}x300` },
  },
  {
    alert: "RevocationListIsOld",
    fires: { [crl("this")]: never, [crl("next")]: "18600x300" },
    quiet: { [crl("this")]: "0+60x300", [crl("next")]: "259200+60x300" },
  },
  {
    alert: "RevocationListsAreNotBuilt",
    fires: { 'chancery_crl_builds_total{kind="complete",outcome="failed"}': "0+1x300" },
    quiet: { 'chancery_crl_builds_total{kind="complete",outcome="failed"}': "3x300" },
  },
  {
    alert: "CertificatesExpire",
    fires: {
      'chancery_pki_certificates_expiring{mount="pki",within="24h"}': "30x300",
      'chancery_pki_certificates{mount="pki",status="valid"}': "100x300",
    },
    quiet: {
      'chancery_pki_certificates_expiring{mount="pki",within="24h"}': "3x300",
      'chancery_pki_certificates{mount="pki",status="valid"}': "100x300",
    },
  },
  {
    alert: "OcspRespondersFail",
    fires: {
      'chancery_ocsp_answers_total{status="try_later"}': "0+10x300",
      'chancery_ocsp_answers_total{status="good"}': steady,
    },
    quiet: {
      'chancery_ocsp_answers_total{status="try_later"}': never,
      'chancery_ocsp_answers_total{status="good"}': steady,
    },
  },
  {
    alert: "CertificatesAreNotCounted",
    fires: { 'chancery_pki_counted_timestamp_seconds{mount="pki"}': "600x300" },
    quiet: { 'chancery_pki_counted_timestamp_seconds{mount="pki"}': "0+60x300" },
  },
  {
    alert: "EnrolmentsWait",
    fires: { 'chancery_pki_enrolment_oldest_timestamp_seconds{mount="pki"}': `${-day}x300` },
    quiet: { 'chancery_pki_enrolment_oldest_timestamp_seconds{mount="pki"}': "0x300" },
  },
  {
    alert: "EnrolmentQueueIsNearlyFull",
    fires: { 'chancery_pki_enrolments_pending{mount="pki"}': "8001x300" },
    quiet: { 'chancery_pki_enrolments_pending{mount="pki"}': "8000x300" },
  },
  {
    alert: "LoginsFail",
    fires: { [logins("success")]: steady, [logins("wrong_credentials")]: "0+20x300" },
    quiet: { [logins("success")]: steady, [logins("wrong_credentials")]: "0+10x300", [logins("busy")]: steady },
  },
  {
    alert: "LoginsCannotBeVerified",
    fires: { [logins("success")]: steady, [logins("failed")]: "0+1x300" },
    quiet: { [logins("success")]: steady, [logins("failed")]: never, [logins("wrong_credentials")]: steady },
  },
  {
    alert: "LoginsAreTurnedAway",
    fires: { [logins("success")]: steady, [logins("busy")]: "0+2x300" },
    quiet: { [logins("success")]: steady, [logins("busy")]: never },
  },
  {
    alert: "EnrolmentsFail",
    fires: { [enrolments("issued")]: "0+1x300", [enrolments("refused")]: "0+2x300" },
    quiet: {
      [enrolments("issued")]: "0+2x300",
      [enrolments("refused")]: "0+1x300",
      [enrolments("unauthenticated")]: steady,
    },
  },
  {
    alert: "AuthoritiesAreNotWatched",
    fires: { chancery_pki_series_left_out: "4x300" },
    quiet: { chancery_pki_series_left_out: "0x300" },
  },
  {
    alert: "AcmeOrdersFail",
    fires: { [orders("made")]: "0+2x300", [orders("invalid")]: "0+1x300" },
    quiet: { [orders("made")]: "0+20x300", [orders("invalid")]: "0+1x300" },
  },
  {
    alert: "AcmeValidationsAreSlow",
    fires: { [validations("5")]: "0+1x300", [validations("10")]: "0+9x300", [validations("+Inf")]: "0+9x300" },
    quiet: { [validations("5")]: "0+9x300", [validations("10")]: "0+9x300", [validations("+Inf")]: "0+9x300" },
  },
  {
    alert: "WebhooksFail",
    fires: { [deliveries("failed")]: "0+9x300", [deliveries("delivered")]: "0+3x300" },
    quiet: { [deliveries("failed")]: "0+3x300", [deliveries("delivered")]: "0+9x300" },
  },
  {
    alert: "EventsAreGivenUp",
    fires: { chancery_webhook_dead_letters_total: "0x280 1x20" },
    quiet: { chancery_webhook_dead_letters_total: "4x300" },
  },
  {
    alert: "WebhookWasDisabled",
    fires: { chancery_webhooks_disabled_total: "0x280 1x20" },
    quiet: { chancery_webhooks_disabled_total: "1x300" },
  },
  {
    alert: "FollowersAreDropped",
    fires: { chancery_event_followers_dropped_total: "0+1x300" },
    quiet: { chancery_event_followers_dropped_total: "0x290 1x10" },
  },
  { alert: "BackgroundJobFails", fires: { [jobRuns]: "0+1x300" }, quiet: { [jobRuns]: "0x290 1x10" } },
  {
    alert: "BackgroundJobIsNotDone",
    fires: { [lastDone]: "600x300" },
    quiet: { [lastDone]: "0+60x300", [lastDone.replace("tidy", "bulk-actions")]: "12000x300" },
  },
  {
    alert: "TidyFails",
    fires: { 'chancery_tidy_runs_total{outcome="error"}': "0x200 1x100" },
    quiet: { 'chancery_tidy_runs_total{outcome="error"}': "1x300" },
  },
  {
    alert: "OperatorDoesNotLead",
    fires: { 'leader_election_master_status{name="chancery/chancery-operator",instance="a"}': "0x300" },
    quiet: {
      'leader_election_master_status{name="chancery/chancery-operator",instance="a"}': "0x300",
      'leader_election_master_status{name="chancery/chancery-operator",instance="b"}': "1x300",
    },
  },
  {
    alert: "OperatorFails",
    fires: { [looks("errors_")]: "0+2x300", [looks("")]: "0+9x300" },
    quiet: { [looks("errors_")]: "0x300", [looks("")]: "0+9x300" },
  },
  { alert: "OperatorPanics", fires: { [looks("panics_")]: "0x280 1x20" }, quiet: { [looks("panics_")]: "0x300" } },
  {
    alert: "OperatorIsStuck",
    fires: { 'workqueue_longest_running_processor_seconds{job="chancery-operator",name="workspace"}': "0+60x300" },
    quiet: { 'workqueue_longest_running_processor_seconds{job="chancery-operator",name="workspace"}': "2x300" },
  },
  {
    alert: "ManagedCertificateIsNotReady",
    fires: { [managed("ready_status")]: "0x300" },
    quiet: { [managed("ready_status")]: "0x280 1x20" },
  },
  {
    alert: "ManagedCertificateIsNotRenewed",
    fires: { [managed("renewal_timestamp_seconds")]: "600x300" },
    quiet: { [managed("renewal_timestamp_seconds")]: "600x200 99999x100" },
  },
  {
    alert: "ManagedCertificateExpires",
    fires: {
      [managed("renewal_timestamp_seconds")]: "600x300",
      [managed("expiration_timestamp_seconds")]: "30000x300",
    },
    quiet: {
      [managed("renewal_timestamp_seconds")]: "99999x300",
      [managed("expiration_timestamp_seconds")]: "99999x300",
    },
  },
  {
    alert: "WorkspaceDrifts",
    fires: { 'chancery_operator_drift_fields{exported_namespace="team",name="web"}': "2x300" },
    quiet: { 'chancery_operator_drift_fields{exported_namespace="team",name="web"}': "2x250 0x50" },
  },
]

import type { Migration } from "../migrate.ts"

/** At nearly every start all migrations are applied, so each is imported only when it is missing. */
const loaded = (name: string, load: () => Promise<Migration>): Migration => ({
  name,
  up: async (session) => (await load()).up(session),
})

/** In order of application. A released migration never changes. */
export const migrations: readonly Migration[] = [
  loaded("0001-workspaces", async () => (await import("./0001-workspaces.ts")).workspacesMigration),
  loaded("0002-mounts", async () => (await import("./0002-mounts.ts")).mountsMigration),
  loaded("0003-pki", async () => (await import("./0003-pki.ts")).pkiMigration),
  loaded("0004-policies", async () => (await import("./0004-policies.ts")).policiesMigration),
  loaded("0005-leases", async () => (await import("./0005-leases.ts")).leasesMigration),
  loaded("0007-revocations", async () => (await import("./0007-revocations.ts")).revocationsMigration),
  loaded("0009-reading", async () => (await import("./0009-reading.ts")).readingMigration),
  loaded("0010-tidy", async () => (await import("./0010-tidy.ts")).tidyMigration),
  loaded("0011-acme", async () => (await import("./0011-acme.ts")).acmeMigration),
  loaded("0012-acme-finalizing", async () => (await import("./0012-acme-finalizing.ts")).acmeFinalizingMigration),
  loaded("0013-acme-management", async () => (await import("./0013-acme-management.ts")).acmeManagementMigration),
  loaded("0014-acme-rates", async () => (await import("./0014-acme-rates.ts")).acmeRatesMigration),
  loaded("0015-state-documents", async () => (await import("./0015-state-documents.ts")).stateDocumentsMigration),
  loaded("0016-runs", async () => (await import("./0016-runs.ts")).runsMigration),
  loaded("0017-workspace-records", async () => (await import("./0017-workspace-records.ts")).workspaceRecordsMigration),
  loaded("0018-tag-owners", async () => (await import("./0018-tag-owners.ts")).tagOwnersMigration),
  loaded("0019-lock-ends", async () => (await import("./0019-lock-ends.ts")).lockEndsMigration),
  loaded("0020-events", async () => (await import("./0020-events.ts")).eventsMigration),
  loaded("0021-bulk-actions", async () => (await import("./0021-bulk-actions.ts")).bulkActionsMigration),
  loaded("0022-confirmations", async () => (await import("./0022-confirmations.ts")).confirmationsMigration),
  loaded("0023-webhooks", async () => (await import("./0023-webhooks.ts")).webhooksMigration),
  loaded(
    "0024-names-of-certificates",
    async () => (await import("./0024-names-of-certificates.ts")).namesOfCertificatesMigration,
  ),
  loaded("0025-cancellations", async () => (await import("./0025-cancellations.ts")).cancellationsMigration),
  loaded("0026-list-indexes", async () => (await import("./0026-list-indexes.ts")).listIndexesMigration),
  loaded("0027-filing", async () => (await import("./0027-filing.ts")).filingMigration),
  loaded("0028-unfiled-rows", async () => (await import("./0028-unfiled-rows.ts")).unfiledRowsMigration),
  loaded("0029-partitions", async () => (await import("./0029-partitions.ts")).partitionsMigration),
  loaded("0030-auth-methods", async () => (await import("./0030-auth-methods.ts")).authMethodsMigration),
  loaded("0031-token-roles", async () => (await import("./0031-token-roles.ts")).tokenRolesMigration),
  loaded("0032-app-roles", async () => (await import("./0032-app-roles.ts")).appRolesMigration),
  loaded("0033-kubernetes-logins", async () => (await import("./0033-kubernetes-logins.ts")).kubernetesLoginsMigration),
  loaded("0034-nonces-by-digest", async () => (await import("./0034-nonces-by-digest.ts")).noncesByDigestMigration),
  loaded("0035-run-comments", async () => (await import("./0035-run-comments.ts")).runCommentsMigration),
  loaded("0037-tfe-settings", async () => (await import("./0037-tfe-settings.ts")).tfeSettingsMigration),
  loaded("0043-blocked-keys", async () => (await import("./0043-blocked-keys.ts")).blockedKeysMigration),
  loaded("0045-acme-certificates", async () => (await import("./0045-acme-certificates.ts")).acmeCertificatesMigration),
  loaded("0047-entity-names", async () => (await import("./0047-entity-names.ts")).entityNamesMigration),
  loaded(
    "0048-oauth-client-scopes",
    async () => (await import("./0048-oauth-client-scopes.ts")).oauthClientScopesMigration,
  ),
  loaded(
    "0050-terraform-versions",
    async () => (await import("./0050-terraform-versions.ts")).terraformVersionsMigration,
  ),
  loaded("0051-run-events", async () => (await import("./0051-run-events.ts")).runEventsMigration),
  loaded("0052-remote-operations", async () => (await import("./0052-remote-operations.ts")).remoteOperationsMigration),
  loaded("0053-waiting-reasons", async () => (await import("./0053-waiting-reasons.ts")).waitingReasonsMigration),
  loaded("0054-userpass-users", async () => (await import("./0054-userpass-users.ts")).userpassUsersMigration),
  loaded(
    "0055-certificate-logins",
    async () => (await import("./0055-certificate-logins.ts")).certificateLoginsMigration,
  ),
  loaded("0056-enrolments", async () => (await import("./0056-enrolments.ts")).enrolmentsMigration),
  loaded("0057-est-labels", async () => (await import("./0057-est-labels.ts")).estLabelsMigration),
]

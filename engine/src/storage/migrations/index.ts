import type { Migration } from "../migrate.ts"
import { workspacesMigration } from "./0001-workspaces.ts"
import { mountsMigration } from "./0002-mounts.ts"
import { pkiMigration } from "./0003-pki.ts"
import { policiesMigration } from "./0004-policies.ts"
import { leasesMigration } from "./0005-leases.ts"
import { revocationsMigration } from "./0007-revocations.ts"
import { readingMigration } from "./0009-reading.ts"
import { tidyMigration } from "./0010-tidy.ts"
import { acmeMigration } from "./0011-acme.ts"
import { acmeFinalizingMigration } from "./0012-acme-finalizing.ts"
import { acmeManagementMigration } from "./0013-acme-management.ts"
import { acmeRatesMigration } from "./0014-acme-rates.ts"
import { stateDocumentsMigration } from "./0015-state-documents.ts"
import { runsMigration } from "./0016-runs.ts"
import { workspaceRecordsMigration } from "./0017-workspace-records.ts"
import { tagOwnersMigration } from "./0018-tag-owners.ts"
import { lockEndsMigration } from "./0019-lock-ends.ts"
import { eventsMigration } from "./0020-events.ts"
import { bulkActionsMigration } from "./0021-bulk-actions.ts"
import { confirmationsMigration } from "./0022-confirmations.ts"
import { webhooksMigration } from "./0023-webhooks.ts"
import { namesOfCertificatesMigration } from "./0024-names-of-certificates.ts"
import { cancellationsMigration } from "./0025-cancellations.ts"
import { listIndexesMigration } from "./0026-list-indexes.ts"
import { filingMigration } from "./0027-filing.ts"
import { unfiledRowsMigration } from "./0028-unfiled-rows.ts"
import { partitionsMigration } from "./0029-partitions.ts"

/** In order of application; a released one is never changed. */
export const migrations: readonly Migration[] = [
  workspacesMigration,
  mountsMigration,
  pkiMigration,
  policiesMigration,
  leasesMigration,
  revocationsMigration,
  readingMigration,
  tidyMigration,
  acmeMigration,
  acmeFinalizingMigration,
  acmeManagementMigration,
  acmeRatesMigration,
  stateDocumentsMigration,
  runsMigration,
  workspaceRecordsMigration,
  tagOwnersMigration,
  lockEndsMigration,
  eventsMigration,
  bulkActionsMigration,
  confirmationsMigration,
  webhooksMigration,
  namesOfCertificatesMigration,
  cancellationsMigration,
  listIndexesMigration,
  filingMigration,
  unfiledRowsMigration,
  partitionsMigration,
]

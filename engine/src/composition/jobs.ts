// Jobs: work without a request, each done by one server at a time.
import { ExpiredOrders, sweepAcme, sweepAcmeJob } from "../acme/delete-expired-acme.ts"
import { acmeTidySteps } from "../acme/tidy-acme.ts"
import { webhookClient } from "../client/outgoing/webhook-client.ts"
import type { Audit } from "../core/audit.ts"
import type { Exclusively } from "../core/leases.ts"
import { sweepEvents, sweepEventsJob } from "../events/feed/delete-old-events.ts"
import { WebhookDelivery, webhooksJob } from "../events/webhooks/webhook-delivery.ts"
import { createWebhookMetrics } from "../events/webhooks/webhook-metrics.ts"
import type { Job } from "../jobs/job.ts"
import { type JobRunner, startJobs } from "../jobs/runner.ts"
import { sweepEnrolments, sweepEnrolmentsJob } from "../pki/enrolments/delete-expired-enrolments.ts"
import { refreshCrls, refreshCrlsJob } from "../pki/crl/refresh-crls.ts"
import { endLeases, endLeasesJob } from "../access/leases/expire-leases.ts"
import { sweepSecretIds, sweepSecretIdsJob } from "../access/approle/delete-expired-secret-ids.ts"
import { renewResponders, renewRespondersJob } from "../pki/ocsp/renew-responders.ts"
import { countCertificates, countCertificatesJob } from "../pki/statistics/count-certificates.ts"
import { keepRanges, keepRangesJob } from "../pki/tidy/keep-ranges.ts"
import { tidyJob, TidyWorker } from "../pki/tidy/tidy-mounts.ts"
import { hmacHex } from "../storage/sealing/hmac-signer.ts"
import type { Repositories } from "../storage/repositories/repositories.ts"
import { destroyWhenDue, destroyWhenDueJob } from "../workspaces/workspace/start-auto-destroy-runs.ts"
import { endRunClaims, endRunClaimsJob } from "../workspaces/runs/expire-run-claims.ts"
import { reportSilentExecutors } from "../workspaces/runs/report-silent-executors.ts"
import { forgetBulkActions, forgetBulkActionsJob } from "../workspaces/bulk/delete-old-bulk-actions.ts"
import { expireLocks, expireLocksJob } from "../workspaces/lock/lock-expiry.ts"
import { readStates, readStatesJob } from "../workspaces/state/parse-uploaded-states.ts"
import { keepStates, stateUpkeepJob } from "../workspaces/state/state-maintenance.ts"
import type { AcmeParts } from "./acme.ts"
import type { Parts } from "./options.ts"
import type { FetchFrom } from "./outgoing.ts"
import type { PkiParts } from "./pki.ts"
import type { StorageContext } from "./storage.ts"
import type { WorkspaceContext } from "./workspaces.ts"

type JobContext = StorageContext & WorkspaceContext & PkiParts & AcmeParts & { readonly audit: Audit }

/** Starts the jobs, unless `jobs` is false in the options. */
export function startEngineJobs(
  context: JobContext,
  {
    exclusively,
    fetchFrom,
    stopped,
  }: {
    readonly exclusively: Exclusively
    readonly fetchFrom: FetchFrom
    readonly stopped: AbortSignal
  },
  { options, runtime, timers, meter }: Parts,
): JobRunner {
  const webhookDelivery = new WebhookDelivery({
    ...context,
    client: webhookClient(fetchFrom("webhook", false), runtime.clock, hmacHex),
    metrics: createWebhookMetrics(meter),
  })
  context.onEvents(() => webhookDelivery.wake())
  const jobs =
    options.jobs === false
      ? []
      : jobsOver(context, {
          tidying: new TidyWorker({ ...context, acmeTidySteps }, context.tidyMetrics),
          expiredOrders: new ExpiredOrders(context),
          webhookDelivery,
        })
  return startJobs(jobs, { exclusively, runtime, timers, meter, stopped })
}

/** Workers that live longer than one run of their job. */
interface Workers {
  readonly tidying: TidyWorker<Repositories>
  readonly expiredOrders: ExpiredOrders
  readonly webhookDelivery: WebhookDelivery
}

/** Schedule of each job; `chancery doctor` compares it with the runs. */
export const jobSchedules: readonly Omit<Job, "run">[] = [
  refreshCrlsJob,
  countCertificatesJob,
  renewRespondersJob,
  tidyJob,
  keepRangesJob,
  endLeasesJob,
  destroyWhenDueJob,
  forgetBulkActionsJob,
  expireLocksJob,
  endRunClaimsJob,
  sweepAcmeJob,
  readStatesJob,
  webhooksJob,
  sweepEventsJob,
  sweepSecretIdsJob,
  sweepEnrolmentsJob,
  stateUpkeepJob,
]

const jobsOver = (context: JobContext, { tidying, expiredOrders, webhookDelivery }: Workers): readonly Job[] => [
  {
    ...refreshCrlsJob,
    async run(held) {
      const trail = context.audit.trail({ job: refreshCrlsJob.name })
      await refreshCrls(context, context.runtime.log, trail.keyUse, held)
      await trail.durable()
    },
  },
  { ...countCertificatesJob, run: (held) => countCertificates(context, held) },
  {
    ...renewRespondersJob,
    async run(held) {
      const trail = context.audit.trail({ job: renewRespondersJob.name })
      await renewResponders(context, trail.keyUse, held)
      await trail.durable()
    },
  },
  { ...tidyJob, run: (held) => tidying.run(held) },
  { ...keepRangesJob, run: (held) => keepRanges(context, context.tidyMetrics, held) },
  { ...endLeasesJob, run: (held) => endLeases(context, held) },
  { ...destroyWhenDueJob, run: (held) => destroyWhenDue(context, held) },
  { ...forgetBulkActionsJob, run: (held) => forgetBulkActions(context, held) },
  { ...expireLocksJob, run: (held) => expireLocks(context, held) },
  {
    ...endRunClaimsJob,
    async run(held) {
      await endRunClaims(context, held)
      await reportSilentExecutors(context, held)
    },
  },
  {
    ...sweepAcmeJob,
    async run(held) {
      await expiredOrders.end(held)
      await sweepAcme(context, held)
    },
  },
  { ...readStatesJob, run: (held) => readStates(context, held) },
  { ...webhooksJob, run: (held) => webhookDelivery.run(held) },
  { ...sweepEventsJob, run: (held) => sweepEvents(context, held) },
  { ...sweepSecretIdsJob, run: (held) => sweepSecretIds(context, held) },
  { ...sweepEnrolmentsJob, run: (held) => sweepEnrolments(context, held) },
  { ...stateUpkeepJob, run: (held) => keepStates(context, held) },
]

import { counted } from "../../core/text.ts"
import { type Instant, minuteMs } from "../../core/time.ts"
import type { Job } from "../../jobs/job.ts"
import type { LeaseFacts, WebhookFacts } from "../../storage/maintenance/survey.ts"
import { type Finding, ok, orOk, roughly, warn } from "./finding.ts"

/** Longer than any lease that a server takes (jobs/exclusively.ts). */
const longestLeaseMs = 2 * minuteMs

/** Many times the interval of the most frequent jobs: if none ran for so long, no server is running. */
const idleMs = 5 * minuteMs

export type JobSchedule = Pick<Job, "name" | "everyMs" | "timeoutMs">

/** The first run of a job begins within half a minute of the server's start (jobs/runner.ts), and may take some time itself. */
const firstRunMs = 2 * minuteMs

export interface JobFacts {
  readonly leases: readonly LeaseFacts[]
  /** Creation time of the database: a job without a run may not have been scheduled since. */
  readonly madeAt: Instant
  readonly now: Instant
}

export function jobFindings(schedules: readonly JobSchedule[], { leases, madeAt, now }: JobFacts): readonly Finding[] {
  const byName = new Map(leases.map((lease) => [lease.name, lease]))
  const troubles = leases
    .filter(({ expiresAt }) => expiresAt - now > longestLeaseMs)
    .map(({ name, holder, expiresAt }) =>
      warn(
        "jobs",
        `The lease ${name} is held by ${holder} for another ${roughly(expiresAt - now)}, longer than the maximum duration of a lease.`,
        "Correct the clock of that server, which is ahead. The lease expires by itself.",
      ),
    )
  const done = schedules.map(({ name }) => byName.get(name)?.doneAt ?? 0)
  const newest = Math.max(0, ...done)
  if (now - (newest === 0 ? madeAt : newest) > idleMs) {
    const when = newest === 0 ? "yet" : `for ${roughly(now - newest)}`
    const message = `No server has run a background job ${when}: revocation lists are not renewed and expired data is not deleted.`
    return [...troubles, warn("jobs", message, "Start a server on this store, or search its log for the reason.")]
  }
  for (const job of schedules) {
    const { name } = job
    if (!isOverdue(job, byName.get(name), { madeAt, now })) continue
    const doneAt = byName.get(name)?.doneAt ?? undefined
    const since = doneAt === undefined ? "has never succeeded" : `has not succeeded for ${roughly(now - doneAt)}`
    const advice = `Search the logs of the servers for job-failed with "job":"${name}".`
    troubles.push(warn("jobs", `The job ${name} ${since}.`, advice))
  }
  return orOk(troubles, "jobs", "All background jobs ran when they were due.")
}

/** Allows for one late run and one failed first attempt. */
function isOverdue(
  { everyMs, timeoutMs }: JobSchedule,
  lease: LeaseFacts | undefined,
  { madeAt, now }: Pick<JobFacts, "madeAt" | "now">,
): boolean {
  const doneAt = lease?.doneAt ?? undefined
  const runningMs = lease !== undefined && lease.expiresAt > now ? timeoutMs : 0
  if (doneAt === undefined) return now - madeAt > firstRunMs + runningMs
  return now - doneAt > 3 * everyMs + minuteMs + runningMs
}

export function webhookFindings(webhooks: readonly WebhookFacts[], now: Instant): readonly Finding[] {
  const troubles = webhooks.flatMap(({ organization, name, disabledReason, failingSince, deadLetterCount }) => {
    const which = `The webhook ${name} of ${organization}`
    const found: Finding[] = []
    if (disabledReason !== null) {
      const advice =
        "Fix its receiver, then enable the webhook again: it continues where it stopped (docs/webhooks.md)."
      found.push(warn("webhooks", `${which} was disabled: ${disabledReason.replace(/\.$/, "")}.`, advice))
    } else if (failingSince !== null) {
      const advice = "Check its receiver. Deliveries are retried for hours, then the event becomes a dead letter."
      found.push(warn("webhooks", `${which} has been failing for ${roughly(now - failingSince)}.`, advice))
    }
    if (deadLetterCount > 0) {
      const advice = "Redeliver or delete them (docs/webhooks.md)."
      found.push(
        warn("webhooks", `${which} could not deliver ${counted(deadLetterCount, "event")} (dead letters).`, advice),
      )
    }
    return found
  })
  return troubles.length > 0 ? troubles : [ok("webhooks", "No webhook is failing.")]
}

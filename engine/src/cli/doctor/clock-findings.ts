// Leases, locks and lifetimes count on clocks that agree; a certificate that begins in the future is refused by its clients.
import { type Instant, minuteMs, secondMs } from "../../core/time.ts"
import type { LeaseFacts } from "../../storage/maintenance/survey.ts"
import { type Finding, fail, ok, roughly, warn } from "./finding.ts"

const noticeableMs = secondMs
/** By so much a lease outlives the work that it covers (jobs/exclusively.ts): beyond it, two servers may do one thing. */
const harmfulMs = 30 * secondMs
const advice = "Let an NTP service keep the clocks of all machines, and start the servers anew once they agree."

/** `before` and `after` are this machine's, around the question. */
export function databaseClockFinding({
  before,
  after,
  database,
}: Readonly<Record<"before" | "after" | "database", Instant>>): Finding {
  const difference = database - (before + after) / 2
  const certain = Math.abs(difference) - (after - before) / 2
  const message = `The clock of this machine is ${roughly(difference)} ${difference > 0 ? "behind" : "ahead of"} that of the database.`
  if (certain > harmfulMs) return fail("clock", message, advice)
  if (certain > noticeableMs) return warn("clock", message, advice)
  return ok("clock", "The clock of this machine agrees with that of the database.")
}

/** `latest` is when files of the store were last written, as the file system has it. */
export function fileClockFinding(now: Instant, latest: Instant): Finding {
  if (latest - now > noticeableMs) {
    const message = `Files of the store were written ${roughly(latest - now)} in the future: this machine's clock was set back, or that of the file system goes ahead.`
    return warn("clock", message, advice)
  }
  return ok("clock", "The clock of this machine agrees with the times of the store's files.")
}

/** What servers have written of themselves: none can have finished later than now. */
export function serverClockFindings(now: Instant, leases: readonly LeaseFacts[]): readonly Finding[] {
  const latest = Math.max(0, ...leases.map(({ doneAt }) => doneAt ?? 0))
  if (latest - now <= minuteMs) return []
  const message = `A server has finished work ${roughly(latest - now)} in the future: its clock goes ahead of this one, or did.`
  return [warn("clock", message, advice)]
}

// Leases, locks and lifetimes need clocks that agree. Clients reject a certificate whose notBefore is in the future.
import { type Instant, minuteMs, secondMs } from "../../core/time.ts"
import type { LeaseFacts } from "../../storage/maintenance/survey.ts"
import { type Finding, fail, ok, roughly, warn } from "./finding.ts"

const noticeableMs = secondMs
/** A lease outlives the work that it covers by this margin (jobs/exclusively.ts). Beyond it, two servers may do the same work. */
const harmfulMs = 30 * secondMs
const advice = "Synchronize the clocks of all machines with NTP, then restart the servers."

/** Compares the clocks. `before` and `after` are readings of this machine's clock around the query for `database`. */
export function databaseClockFinding({
  before,
  after,
  database,
}: Readonly<Record<"before" | "after" | "database", Instant>>): Finding {
  const difference = database - (before + after) / 2
  const certain = Math.abs(difference) - (after - before) / 2
  const message = `The clock of this machine is ${roughly(difference)} ${difference > 0 ? "behind" : "ahead of"} the clock of the database.`
  if (certain > harmfulMs) return fail("clock", message, advice)
  if (certain > noticeableMs) return warn("clock", message, advice)
  return ok("clock", "The clock of this machine agrees with the clock of the database.")
}

/** Compares clocks. `latest` is the newest modification time of the database's files, by the clock of the file system. */
export function fileClockFinding(now: Instant, latest: Instant): Finding {
  if (latest - now > noticeableMs) {
    const message = `Files of the database were written ${roughly(latest - now)} in the future: the clock of this machine was set back, or the clock of the file system is ahead.`
    return warn("clock", message, advice)
  }
  return ok("clock", "The clock of this machine agrees with the modification times of the database files.")
}

/** Checks the times at which servers recorded that they finished work. None may be later than now. */
export function serverClockFindings(now: Instant, leases: readonly LeaseFacts[]): readonly Finding[] {
  const latest = Math.max(0, ...leases.map(({ doneAt }) => doneAt ?? 0))
  if (latest - now <= minuteMs) return []
  const message = `A server recorded finished work ${roughly(latest - now)} in the future: its clock is or was ahead of the clock of this machine.`
  return [warn("clock", message, advice)]
}

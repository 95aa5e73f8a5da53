// Automatic tidying at intervals (https://developer.hashicorp.com/vault/api-docs/secret/pki#set-automatic-tidy-configuration).
import type { Fault } from "../../core/errors.ts"
import { dayMs, hourMs, type Instant, isAhead, minuteMs } from "../../core/time.ts"
import {
  areWholeSeconds,
  defaultTidyOptions,
  resolvedTidyOptions,
  type ResolvedTidyOptions,
  tidiesAnything,
  tidyOptionFaults,
  type TidyOptions,
} from "./tidy-options.ts"

interface AutoTidy {
  readonly enabled: boolean
  /** Time from the end of one automatic run to the start of the next. */
  readonly intervalDurationMs: number
  /**
   * Bounds of a random time after the start of a server in which it begins no automatic run. Servers that start together thus share
   * the work.
   */
  readonly minStartupBackoffDurationMs: number
  readonly maxStartupBackoffDurationMs: number
  /** Show the number of certificates of the mount, and of revoked ones, in `tidy-status`. */
  readonly maintainStoredCertificateCounts: boolean
  /** Stored without effect: these numbers are metrics of every mount. */
  readonly publishStoredCertificateCountMetrics: boolean
}

export interface AutoTidySettings extends TidyOptions, AutoTidy {}

/** Settings as clients see them. */
export type AutoTidyView = ResolvedTidyOptions & AutoTidy

/** Changes of the settings. Absent members stay unchanged. */
export type AutoTidyPatch = Partial<Omit<AutoTidySettings, "revokedSafetyBufferMs">> & {
  readonly revokedSafetyBufferMs?: number
}

export const defaultAutoTidySettings: AutoTidySettings = {
  ...defaultTidyOptions,
  enabled: false,
  intervalDurationMs: 12 * hourMs,
  minStartupBackoffDurationMs: 5 * minuteMs,
  maxStartupBackoffDurationMs: 15 * minuteMs,
  maintainStoredCertificateCounts: false,
  publishStoredCertificateCountMetrics: false,
}

export const autoTidyView = (settings: AutoTidySettings): AutoTidyView => ({
  ...settings,
  ...resolvedTidyOptions(settings),
})

const maxIntervalMs = 366 * dayMs
const maxBackoffMs = dayMs

export function autoTidyFaults(settings: AutoTidySettings): Fault[] {
  const { enabled, intervalDurationMs, minStartupBackoffDurationMs, maxStartupBackoffDurationMs } = settings
  const faults: Fault[] = tidyOptionFaults(settings)
  const refuse = (field: keyof AutoTidySettings, detail: string) => faults.push({ field: [field], detail })
  if (enabled && !tidiesAnything(settings))
    refuse("enabled", "requires at least one tidy operation; set tidy_cert_store, tidy_revoked_certs or another")
  if (!areWholeSeconds(intervalDurationMs, maxIntervalMs))
    refuse("intervalDurationMs", "must be a whole number of seconds, from one second to 366 days")
  for (const name of ["minStartupBackoffDurationMs", "maxStartupBackoffDurationMs"] as const)
    if (settings[name] !== 0 && !areWholeSeconds(settings[name], maxBackoffMs))
      refuse(name, "must be a whole number of seconds, at most a day")
  if (minStartupBackoffDurationMs > maxStartupBackoffDurationMs)
    refuse("minStartupBackoffDurationMs", "must not be longer than max_startup_backoff_duration")
  return faults
}

export interface AutoTidyFacts {
  readonly now: Instant
  /** End of the last automatic run of the mount; undefined before the first. */
  readonly lastFinishedAt: Instant | undefined
  /** Start of this server. */
  readonly serverStartedAt: Instant
  /** Position of this server's backoff between minimum and maximum, from 0 to 1. */
  readonly chance: number
}

/** Returns true if the duration has passed, or if it began while the clock was ahead. */
const isOver = (beganAt: Instant, durationMs: number, now: Instant): boolean =>
  now >= beganAt + durationMs || isAhead(beganAt, now, minuteMs)

export function isAutoTidyDue(settings: AutoTidySettings, facts: AutoTidyFacts): boolean {
  const { now, lastFinishedAt, serverStartedAt, chance } = facts
  const {
    enabled,
    intervalDurationMs,
    minStartupBackoffDurationMs: least,
    maxStartupBackoffDurationMs: most,
  } = settings
  const backoffMs = least + chance * (most - least)
  return (
    enabled &&
    isOver(serverStartedAt, backoffMs, now) &&
    (lastFinishedAt === undefined || isOver(lastFinishedAt, intervalDurationMs, now))
  )
}

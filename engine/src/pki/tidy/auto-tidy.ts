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
  /** From the end of one automatic run to the start of the next. */
  readonly intervalDurationMs: number
  /** After its start a server begins none for a time between these, so that servers that start together share the work out. */
  readonly minStartupBackoffDurationMs: number
  readonly maxStartupBackoffDurationMs: number
  /** `tidy-status` tells how many certificates the mount has, and how many of them are revoked. */
  readonly maintainStoredCertificateCounts: boolean
  /** Kept, and without effect: these numbers are metrics of every mount. */
  readonly publishStoredCertificateCountMetrics: boolean
}

export interface AutoTidySettings extends TidyOptions, AutoTidy {}

/** As they are shown. */
export type AutoTidyView = ResolvedTidyOptions & AutoTidy

/** What is not given stays as it is. */
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

const intervalMaximumMs = 366 * dayMs
const backoffMaximumMs = dayMs

export function autoTidyFaults(settings: AutoTidySettings): Fault[] {
  const { enabled, intervalDurationMs, minStartupBackoffDurationMs, maxStartupBackoffDurationMs } = settings
  const faults: Fault[] = tidyOptionFaults(settings)
  const refuse = (field: keyof AutoTidySettings, detail: string) => faults.push({ field: [field], detail })
  if (enabled && !tidiesAnything(settings))
    refuse("enabled", "must be false where nothing is to be tidied: set tidy_cert_store, tidy_revoked_certs or another")
  if (!areWholeSeconds(intervalDurationMs, intervalMaximumMs))
    refuse("intervalDurationMs", "must be whole seconds, at least one, and at most 366 days")
  for (const name of ["minStartupBackoffDurationMs", "maxStartupBackoffDurationMs"] as const)
    if (settings[name] !== 0 && !areWholeSeconds(settings[name], backoffMaximumMs))
      refuse(name, "must be whole seconds, and not be longer than a day")
  if (minStartupBackoffDurationMs > maxStartupBackoffDurationMs)
    refuse("minStartupBackoffDurationMs", "must not be longer than max_startup_backoff_duration")
  return faults
}

export interface AutoTidyFacts {
  readonly now: Instant
  /** When the last automatic run of the mount ended; undefined before the first. */
  readonly lastFinishedAt: Instant | undefined
  /** Since when this server runs. */
  readonly serverStartedAt: Instant
  /** From 0 to 1: where between its shortest and its longest this server's backoff lies. */
  readonly chance: number
}

/** Also of what began while the clock was ahead. */
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

// Revocation settings of a mount: `config/crl` (https://developer.hashicorp.com/vault/api-docs/secret/pki#set-crl-configuration).
import type { Fault } from "../../core/errors.ts"
import { hourMs, minuteMs, secondMs } from "../../core/time.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"
import type { UnknownSerialsAnswer } from "../ocsp/ocsp-history.ts"
import { isShardCount, shardCountMaximum } from "./shard.ts"

export interface CrlSettings {
  /** How long after it was made a list is to be replaced. */
  readonly expiryMs: number
  /** Lists are served without entries. */
  readonly disable: boolean
  readonly ocspDisable: boolean
  /** 0: answers do not say when there is news. */
  readonly ocspExpiryMs: number
  /** The OCSP status of serial numbers that the mount has no record of. */
  readonly ocspUnknownSerials: UnknownSerialsAnswer
  /** Issuers have another key answer over OCSP; those that may not answer themselves do in any case. */
  readonly ocspDelegatedResponder: boolean
  /** Of that key; empty: as the issuer's own. */
  readonly ocspResponderKeyType: KeyType | ""
  /** How long its certificate lasts; another is made after half of that. */
  readonly ocspResponderTtlMs: number
  /** Only by the clock: whoever reads between two times gets what is there. */
  readonly autoRebuild: boolean
  /** How long before it expires a list is made anew. */
  readonly autoRebuildGracePeriodMs: number
  readonly enableDelta: boolean
  readonly deltaRebuildIntervalMs: number
  readonly allowExpiredCertRevocation: boolean
  /** -1: any number. */
  readonly maxCrlEntries: number
  /** Into how many lists certificates from now on are divided; a power of two. */
  readonly shards: number
  /** Every number of shards that certificates may name. */
  readonly shardCounts: readonly number[]
}

export const defaultCrlSettings: CrlSettings = {
  expiryMs: 72 * hourMs,
  disable: false,
  ocspDisable: false,
  ocspExpiryMs: 12 * hourMs,
  ocspUnknownSerials: "unknown",
  ocspDelegatedResponder: false,
  ocspResponderKeyType: "",
  ocspResponderTtlMs: 168 * hourMs,
  autoRebuild: false,
  autoRebuildGracePeriodMs: 12 * hourMs,
  enableDelta: false,
  deltaRebuildIntervalMs: 15 * minuteMs,
  allowExpiredCertRevocation: false,
  maxCrlEntries: 100_000,
  shards: 1,
  shardCounts: [1],
}

/** What is not given stays as it is. The clusters' settings are there to be refused. */
export interface CrlSettingsPatch extends Partial<Omit<CrlSettings, "shardCounts">> {
  readonly crossClusterRevocation?: boolean
  readonly unifiedCrl?: boolean
  readonly unifiedCrlOnExistingPaths?: boolean
}

const expiryMinimumMs = secondMs
/** Lists of more entries would not fit into memory a few times over. */
const entriesMaximum = 20_000_000

export function changeCrlSettings(
  before: CrlSettings,
  patch: CrlSettingsPatch,
): { readonly settings: CrlSettings; readonly faults: readonly Fault[] } {
  const { crossClusterRevocation: _cross, unifiedCrl: _unified, unifiedCrlOnExistingPaths: _existing, ...given } = patch
  const merged = { ...before, ...given }
  const settings: CrlSettings = {
    ...merged,
    shardCounts: [...new Set([...before.shardCounts, merged.shards])].toSorted((one, other) => one - other),
  }
  return { settings, faults: [...clusterFaults(patch), ...settingsFaults(settings)] }
}

function clusterFaults(patch: CrlSettingsPatch): Fault[] {
  return (["crossClusterRevocation", "unifiedCrl", "unifiedCrlOnExistingPaths"] as const)
    .filter((name) => patch[name] === true)
    .map((name) => ({ field: [name], detail: "must be false: all servers of a store share their revocations already" }))
}

function settingsFaults(settings: CrlSettings): Fault[] {
  const { expiryMs, autoRebuild, autoRebuildGracePeriodMs, enableDelta, deltaRebuildIntervalMs } = settings
  const faults: Fault[] = []
  const refuse = (field: keyof CrlSettings, detail: string) => faults.push({ field: [field], detail })
  if (expiryMs < expiryMinimumMs) refuse("expiryMs", "must be at least a second")
  if (autoRebuild && autoRebuildGracePeriodMs >= expiryMs)
    refuse("autoRebuildGracePeriodMs", "must be shorter than expiry")
  if (enableDelta && !autoRebuild) refuse("enableDelta", "needs auto_rebuild to be true")
  if (enableDelta && deltaRebuildIntervalMs >= expiryMs) refuse("deltaRebuildIntervalMs", "must be shorter than expiry")
  const isDelegated = settings.ocspDelegatedResponder
  if (settings.ocspResponderTtlMs < hourMs || (isDelegated && settings.ocspResponderTtlMs < 2 * settings.ocspExpiryMs))
    refuse("ocspResponderTtlMs", "must be at least an hour, and twice ocsp_expiry")
  if (deltaRebuildIntervalMs < expiryMinimumMs) refuse("deltaRebuildIntervalMs", "must be at least a second")
  if (settings.maxCrlEntries < -1 || settings.maxCrlEntries === 0 || settings.maxCrlEntries > entriesMaximum)
    refuse("maxCrlEntries", `must be -1 for any number, or from 1 to ${entriesMaximum}`)
  if (!isShardCount(settings.shards)) refuse("shards", `must be a power of two up to ${shardCountMaximum}`)
  return faults
}

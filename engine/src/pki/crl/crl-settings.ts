// Revocation settings of a mount: `config/crl` (https://developer.hashicorp.com/vault/api-docs/secret/pki#set-crl-configuration).
import type { Fault } from "../../core/errors.ts"
import { hourMs, minuteMs, secondMs } from "../../core/time.ts"
import type { KeyType } from "../../x509/key-algorithm.ts"
import type { UnknownSerialsAnswer } from "../ocsp/ocsp-history.ts"
import { isShardCount, maxShardCount } from "./shard.ts"

export interface CrlSettings {
  /** Time until `nextUpdate` of a list. */
  readonly expiryMs: number
  /** Serve lists without entries. */
  readonly disable: boolean
  readonly ocspDisable: boolean
  /** 0: responses have no `nextUpdate`. */
  readonly ocspExpiryMs: number
  /** OCSP status of serial numbers without a record. */
  readonly ocspUnknownSerials: UnknownSerialsAnswer
  /** Use a delegated responder key for OCSP. Issuers that may not sign responses themselves always use one. */
  readonly ocspDelegatedResponder: boolean
  /** Type of the responder key. Empty: as the issuer's key. */
  readonly ocspResponderKeyType: KeyType | ""
  /** Lifetime of the responder certificate. It is replaced after half of that time. */
  readonly ocspResponderTtlMs: number
  /** Rebuild lists only on schedule. Readers get the published list in between. */
  readonly autoRebuild: boolean
  /** Time before its expiry at which a list is rebuilt. */
  readonly autoRebuildGracePeriodMs: number
  readonly enableDelta: boolean
  readonly deltaRebuildIntervalMs: number
  readonly allowExpiredCertRevocation: boolean
  /** -1: no limit. */
  readonly maxCrlEntries: number
  /** Number of lists for new certificates; a power of two. */
  readonly shards: number
  /** All numbers of shards that certificates may refer to. */
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

/** Changes of the settings. Absent members stay unchanged. The cluster settings are accepted only as false. */
export interface CrlSettingsPatch extends Partial<Omit<CrlSettings, "shardCounts">> {
  readonly crossClusterRevocation?: boolean
  readonly unifiedCrl?: boolean
  readonly unifiedCrlOnExistingPaths?: boolean
}

const minExpiryMs = secondMs
/** Several copies of a longer list would not fit into memory. */
const maxEntries = 20_000_000

export function changeCrlSettings(
  before: CrlSettings,
  patch: CrlSettingsPatch,
): { readonly settings: CrlSettings; readonly faults: readonly Fault[] } {
  const {
    crossClusterRevocation: _cross,
    unifiedCrl: _unified,
    unifiedCrlOnExistingPaths: _existing,
    ...changes
  } = patch
  const merged = { ...before, ...changes }
  const settings: CrlSettings = {
    ...merged,
    shardCounts: [...new Set([...before.shardCounts, merged.shards])].toSorted((one, other) => one - other),
  }
  return { settings, faults: [...clusterFaults(patch), ...settingsFaults(settings)] }
}

function clusterFaults(patch: CrlSettingsPatch): Fault[] {
  return (["crossClusterRevocation", "unifiedCrl", "unifiedCrlOnExistingPaths"] as const)
    .filter((name) => patch[name] === true)
    .map((name) => ({ field: [name], detail: "must be false; all servers of a database share their revocations" }))
}

function settingsFaults(settings: CrlSettings): Fault[] {
  const { expiryMs, autoRebuild, autoRebuildGracePeriodMs, enableDelta, deltaRebuildIntervalMs } = settings
  const faults: Fault[] = []
  const refuse = (field: keyof CrlSettings, detail: string) => faults.push({ field: [field], detail })
  if (expiryMs < minExpiryMs) refuse("expiryMs", "must be at least a second")
  if (autoRebuild && autoRebuildGracePeriodMs >= expiryMs)
    refuse("autoRebuildGracePeriodMs", "must be shorter than expiry")
  if (enableDelta && !autoRebuild) refuse("enableDelta", "requires auto_rebuild to be true")
  if (enableDelta && deltaRebuildIntervalMs >= expiryMs) refuse("deltaRebuildIntervalMs", "must be shorter than expiry")
  const isDelegated = settings.ocspDelegatedResponder
  if (settings.ocspResponderTtlMs < hourMs || (isDelegated && settings.ocspResponderTtlMs < 2 * settings.ocspExpiryMs))
    refuse("ocspResponderTtlMs", "must be at least an hour and at least twice ocsp_expiry")
  if (deltaRebuildIntervalMs < minExpiryMs) refuse("deltaRebuildIntervalMs", "must be at least a second")
  if (settings.maxCrlEntries < -1 || settings.maxCrlEntries === 0 || settings.maxCrlEntries > maxEntries)
    refuse("maxCrlEntries", `must be -1 (unlimited) or from 1 to ${maxEntries}`)
  if (!isShardCount(settings.shards)) refuse("shards", `must be a power of two up to ${maxShardCount}`)
  return faults
}

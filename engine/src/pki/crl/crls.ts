import type { Instant } from "../../core/time.ts"
import type { Shard } from "./shard.ts"
import type { CrlSettings, CrlSettingsPatch } from "./crl-settings.ts"

/** Which numbers of shards there once were is the mount's own affair. */
export type CrlSettingsView = Omit<CrlSettings, "shardCounts">

export interface CrlChoice {
  /** The default issuer's list when left out. */
  readonly issuerRef?: string
  /** What came since the complete list. */
  readonly delta?: boolean
  /** Of the list's parts; the whole list when left out. */
  readonly shard?: Shard
}

export interface Crl {
  readonly der: Uint8Array
  /** CRLNumber. */
  readonly number: number
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
}

/** Lists of what was revoked, as anybody may read them, and how they come about (pki-facts 2.7 and 2.8). */
export interface Crls {
  /** Knows every revocation that was acknowledged before, unless `autoRebuild` is on. Undefined where there is none. */
  get(choice?: CrlChoice): Promise<Crl | undefined>
  /** Builds the lists of all issuers. */
  rotate(): Promise<void>
  rotateDelta(): Promise<void>
  settings(): Promise<CrlSettingsView>
  configure(patch: CrlSettingsPatch): Promise<CrlSettingsView>
}

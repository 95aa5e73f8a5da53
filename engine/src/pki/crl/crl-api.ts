import type { Extension } from "../../x509/extension.ts"
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

export interface ListNumbers {
  readonly crlNumber: number
  /** -1: the list is complete. */
  readonly deltaCrlBaseNumber: number
  /** How long after now there will be another. */
  readonly nextUpdateMs: number
}

export interface ResignInput extends ListNumbers {
  /** PEM; all signed by the issuer. */
  readonly crls: readonly string[]
}

export interface RevocationListInput extends ListNumbers {
  readonly revokedCertificates: readonly {
    /** Hex octets joined by ":" or "-". */
    readonly serialNumber: string
    readonly revokedAt: Instant
    readonly extensions: readonly Extension[]
  }[]
  readonly extensions: readonly Extension[]
}

export interface SignedList {
  readonly der: Uint8Array
  readonly warnings: readonly string[]
}

/** What came of importing a list. */
export interface ImportedCrl {
  /** Of certificates that were not revoked here before. */
  readonly importedCount: number
  /** Of certificates that were; their time and reason stay. */
  readonly existingCount: number
  /** CRLNumber of the list; null without one. */
  readonly crlNumber: number | null
  readonly warnings: readonly string[]
}

/** Revocation lists of a mount, readable without a token, and their settings. */
export interface Crls {
  /** Knows every revocation that was acknowledged before, unless `autoRebuild` is on. Undefined where there is none. */
  get(choice?: CrlChoice): Promise<Crl | undefined>
  /** Builds the lists of all issuers. */
  rotate(): Promise<void>
  rotateDelta(): Promise<void>
  settings(): Promise<CrlSettingsView>
  configure(patch: CrlSettingsPatch): Promise<CrlSettingsView>
  /**
   * Records the revocations of a list that the issuer signed elsewhere, with their times and reasons. The mount's next list has a
   * higher CRL number. PEM or base64 of DER; the same list again changes nothing.
   */
  import(issuerRef: string, crl: string): Promise<ImportedCrl>
  /**
   * Signs several lists of one issuer as one list, as
   * https://developer.hashicorp.com/vault/api-docs/secret/pki#combine-crls-from-the-same-issuer. The mount's own lists do not change.
   */
  resign(issuerRef: string, input: ResignInput): Promise<SignedList>
  /** Signs whatever list it is given. */
  signRevocationList(issuerRef: string, input: RevocationListInput): Promise<SignedList>
}

import type { Extension } from "../../x509/extension.ts"
import type { Instant } from "../../core/time.ts"
import type { Shard } from "./shard.ts"
import type { CrlSettings, CrlSettingsPatch } from "./crl-settings.ts"

/** Settings without the former shard counts, which are internal. */
export type CrlSettingsView = Omit<CrlSettings, "shardCounts">

export interface CrlChoice {
  /** Default: the default issuer. */
  readonly issuerRef?: string
  /** Read the delta list: the entries since the complete list. */
  readonly delta?: boolean
  /** Shard of the list. Default: the whole list. */
  readonly shard?: Shard
}

export interface Crl {
  readonly der: Uint8Array
  /** CRLNumber of the list. */
  readonly number: number
  readonly thisUpdate: Instant
  readonly nextUpdate: Instant
}

export interface ListNumbers {
  readonly crlNumber: number
  /** -1: the list is complete. */
  readonly deltaCrlBaseNumber: number
  /** Milliseconds from now until `nextUpdate`. */
  readonly nextUpdateMs: number
}

export interface ResignInput extends ListNumbers {
  /** PEM. The issuer must have signed all of them. */
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

/** Result of importing a list. */
export interface ImportedCrl {
  /** Number of certificates that were not revoked before. */
  readonly importedCount: number
  /** Number of certificates that were revoked before. Their time and reason stay. */
  readonly existingCount: number
  /** CRLNumber of the list; null if it has none. */
  readonly crlNumber: number | null
  readonly warnings: readonly string[]
}

/** Revocation lists of a mount, readable without a token, and their settings. */
export interface Crls {
  /**
   * Returns a list with every revocation that was acknowledged before, unless `autoRebuild` is on. Returns undefined if there is no
   * such list.
   */
  get(choice?: CrlChoice): Promise<Crl | undefined>
  /** Rebuilds the lists of all issuers. */
  rotate(): Promise<void>
  rotateDelta(): Promise<void>
  settings(): Promise<CrlSettingsView>
  configure(patch: CrlSettingsPatch): Promise<CrlSettingsView>
  /**
   * Records the revocations of a list that the issuer signed elsewhere, with their times and reasons. The mount's next list gets a
   * higher CRL number. The list is PEM or base64 of DER. Importing it again changes nothing.
   */
  import(issuerRef: string, crl: string): Promise<ImportedCrl>
  /**
   * Signs several lists of one issuer as one list, as
   * https://developer.hashicorp.com/vault/api-docs/secret/pki#combine-crls-from-the-same-issuer. The mount's own lists do not
   * change.
   */
  resign(issuerRef: string, input: ResignInput): Promise<SignedList>
  /** Signs a list with the given entries. The server does not compare them with its revocations. */
  signRevocationList(issuerRef: string, input: RevocationListInput): Promise<SignedList>
}

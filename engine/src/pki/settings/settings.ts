import type { AuthorityUrls } from "../issuers/issuer.ts"
import type { AcmeSettings, WrittenAcmeSettings } from "./acme-settings.ts"
import type { ClusterSettings, IssuersSettings, KeysSettings } from "./mount-settings.ts"

/** What came of a change, and what whoever made it should know. */
export interface Saved<T> {
  readonly value: T
  readonly warnings: readonly string[]
}

export interface IssuersSettingsPatch {
  /** An issuer's id or name. */
  readonly default?: string
  readonly defaultFollowsLatestIssuer?: boolean
}

export interface KeysSettingsPatch {
  /** A key's id or name. */
  readonly default?: string
}

/** Settings of a mount: default issuer and key, URLs, cluster paths, ACME. A change keeps members that it leaves out. */
export interface Settings {
  issuers(): Promise<IssuersSettings>
  changeIssuers(patch: IssuersSettingsPatch): Promise<Saved<IssuersSettings>>
  /** Makes an issuer the default (`root/replace`). Without a reference, the issuer named `next`. */
  replaceRoot(reference?: string): Promise<Saved<IssuersSettings>>
  keys(): Promise<KeysSettings>
  changeKeys(patch: KeysSettingsPatch): Promise<Saved<KeysSettings>>
  urls(): Promise<AuthorityUrls>
  changeUrls(patch: Partial<AuthorityUrls>): Promise<Saved<AuthorityUrls>>
  cluster(): Promise<ClusterSettings>
  changeCluster(patch: Partial<ClusterSettings>): Promise<Saved<ClusterSettings>>
  acme(): Promise<AcmeSettings>
  changeAcme(patch: Partial<AcmeSettings>): Promise<Saved<WrittenAcmeSettings>>
}

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

/** How a mount's issuers and keys are used, and where they are found (pki-facts 2.6). A change leaves alone what it does not name. */
export interface Settings {
  issuers(): Promise<IssuersSettings>
  changeIssuers(patch: IssuersSettingsPatch): Promise<Saved<IssuersSettings>>
  /** Makes an issuer the default: the one that `next` names unless another is said (pki-facts 2.1, `root/replace`). */
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

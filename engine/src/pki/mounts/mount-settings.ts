// Configuration of a whole mount. Each part is stored by name as last written, and read with defaults for absent members.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import { type CrlSettings, defaultCrlSettings } from "../crl/crl-settings.ts"
import {
  defaultExternalPolicySettings,
  type ExternalPolicySettings,
} from "../external-policy/external-policy-settings.ts"
import type { Instant } from "../../core/time.ts"
import { type AuthorityUrls, noUrls } from "../issuers/issuer.ts"
import { defaultOcspHistory, type OcspHistory } from "../ocsp/ocsp-history.ts"
import { defaultEstSettings, type EstSettings } from "../est/est-settings.ts"
import type { MountId } from "./mount.ts"
import { type AcmeSettings, defaultAcmeSettings } from "./acme-settings.ts"
import { type AutoTidySettings, defaultAutoTidySettings } from "../tidy/auto-tidy.ts"

export interface IssuersSettings {
  readonly default: IssuerId | null
  readonly defaultFollowsLatestIssuer: boolean
}

export interface KeysSettings {
  readonly default: KeyId | null
}

/** Public URLs of the mount. ACME and templated URLs need them. */
export interface ClusterSettings {
  /** URL with scheme https and without a trailing slash. */
  readonly path: string
  /** URL for certificates and revocation lists, without a trailing slash. Plain http is usual for them. */
  readonly aiaPath: string
}

/** Time of the last change, for conditional requests. */
export interface MountHistory {
  /**
   * Time of the last change of any issuer data that clients read without a token: certificates, names, chains, and the default
   * issuer.
   */
  readonly issuersChangedAt: Instant
}

/** Time from which CAA checks (RFC 8659) cover the current `caa_identities`. */
export interface CaaHistory {
  /** Authorizations before this time were checked for other identities, or not checked. */
  readonly identitiesChangedAt: Instant
}

/** Numbers of CRLs that other authorities published before their keys were imported. */
export interface CrlHistory {
  /** Highest imported CRL number of each list. */
  readonly numberFloors: Readonly<Record<string, number>>
}

/**
 * All parts of the settings by name. A part that is added here with its default is stored, and loaded into `MountSnapshot`, without
 * further code.
 */
export interface MountSettings {
  readonly issuers: IssuersSettings
  readonly keys: KeysSettings
  readonly urls: AuthorityUrls
  readonly cluster: ClusterSettings
  readonly history: MountHistory
  readonly caaHistory: CaaHistory
  readonly externalPolicy: ExternalPolicySettings
  readonly crl: CrlSettings
  readonly ocspHistory: OcspHistory
  readonly crlHistory: CrlHistory
  readonly autoTidy: AutoTidySettings
  readonly acme: AcmeSettings
  readonly est: EstSettings
}

export const defaultMountSettings: MountSettings = {
  issuers: { default: null, defaultFollowsLatestIssuer: false },
  keys: { default: null },
  urls: noUrls,
  cluster: { path: "", aiaPath: "" },
  history: { issuersChangedAt: 0 },
  caaHistory: { identitiesChangedAt: 0 },
  externalPolicy: defaultExternalPolicySettings,
  crl: defaultCrlSettings,
  ocspHistory: defaultOcspHistory,
  crlHistory: { numberFloors: {} },
  autoTidy: defaultAutoTidySettings,
  acme: defaultAcmeSettings,
  est: defaultEstSettings,
}

export interface MountSettingsRepository {
  all(mountId: MountId): Promise<MountSettings>
  save<Name extends keyof MountSettings>(mountId: MountId, name: Name, value: MountSettings[Name]): Promise<void>
  /**
   * Returns a secret that belongs to settings, such as the key of a client certificate. Secrets are sealed, and `all` does not
   * return them.
   */
  secret(mountId: MountId, name: string): Promise<Uint8Array | undefined>
  saveSecret(mountId: MountId, name: string, value: Uint8Array | undefined): Promise<void>
}

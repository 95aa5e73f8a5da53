// Configuration of a whole mount. Each part is stored by name as it was last written, and read with defaults for absent members.
import type { IssuerId, KeyId } from "../../core/ids.ts"
import { type CrlSettings, defaultCrlSettings } from "../crl/crl-settings.ts"
import {
  defaultExternalPolicySettings,
  type ExternalPolicySettings,
} from "../external-policy/external-policy-settings.ts"
import type { Instant } from "../../core/time.ts"
import { type AuthorityUrls, noUrls } from "../issuers/issuer.ts"
import { defaultOcspHistory, type OcspHistory } from "../ocsp/ocsp-history.ts"
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

/** Where this mount is reached; ACME and templated URLs need it. */
export interface ClusterSettings {
  /** An https URL, without the slash at its end. */
  readonly path: string
  /** The same for certificates and revocation lists; plain http is usual there. */
  readonly aiaPath: string
}

/** What conditional requests are answered by. */
export interface MountHistory {
  /** Of everything that is told of issuers to anybody: their certificates, names and chains, and which is the default. */
  readonly issuersChangedAt: Instant
}

/** Since when the owners of names are asked whether they let this authority issue (RFC 8659) as they are now. */
export interface CaaHistory {
  /** What was proved before has been asked for other identities, or for none. */
  readonly identitiesChangedAt: Instant
}

/** Of revocation lists that other authorities published before their keys came here. */
export interface CrlHistory {
  /** By list: the highest CRL number that was imported. */
  readonly numberFloors: Readonly<Record<string, number>>
}

/** Every part by its name. A new part is added here with its default, and has a store and a place in `Authority` at once. */
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
}

export interface MountSettingsRepository {
  all(mountId: MountId): Promise<MountSettings>
  save<Name extends keyof MountSettings>(mountId: MountId, name: Name, value: MountSettings[Name]): Promise<void>
  /** Secrets beside settings, such as the key of a client certificate: sealed, and never part of `all`. */
  secret(mountId: MountId, name: string): Promise<Uint8Array | undefined>
  saveSecret(mountId: MountId, name: string, value: Uint8Array | undefined): Promise<void>
}

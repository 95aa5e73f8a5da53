import { conflict, rejectFaults } from "../../core/errors.ts"
import { type EstSettings, estSettingsFaults, registeredLabels } from "../est/est-settings.ts"
import { filledUrls, urlFaults } from "../issuers/authority-urls.ts"
import { type AuthorityUrls, defaultIssuerSettings } from "../issuers/issuer.ts"
import { defaultReference } from "../names/reference-name.ts"
import { authorizeOnMount, type MountAccess } from "../pki-context.ts"
import {
  acmeIssuerWarnings,
  type AcmeSettings,
  acmeSettingsFaults,
  asksOwnersAnew,
  type WrittenAcmeSettings,
} from "./acme-settings.ts"
import { clusterFaults, withoutSlashes } from "./cluster-settings.ts"
import type {
  ClusterSettings,
  IssuersSettings,
  KeysSettings,
  MountSettings,
  MountSettingsRepository,
} from "./mount-settings.ts"
import { findIssuer, issuerOf, keyOf, type MountSnapshot } from "./mount-snapshot.ts"
import { changeMount, currentSnapshot } from "./with-mount-snapshot.ts"

const writing = ["create", "update"] as const
/** Name that `root/rotate` gives to a root without another name. */
const nextRoot = "next"

export class SettingsService implements Settings {
  readonly #access: MountAccess

  constructor(access: MountAccess) {
    this.#access = access
  }

  async issuers(): Promise<IssuersSettings> {
    authorizeOnMount(this.#access, "read", "config/issuers")
    return (await currentSnapshot(this.#access)).settings.issuers
  }

  async changeIssuers(patch: IssuersSettingsPatch): Promise<Saved<IssuersSettings>> {
    authorizeOnMount(this.#access, writing, "config/issuers")
    return this.#change("issuers", (snapshot) => withIssuers(snapshot, patch))
  }

  async replaceRoot(reference = nextRoot): Promise<Saved<IssuersSettings>> {
    authorizeOnMount(this.#access, writing, "root/replace")
    return this.#change("issuers", (snapshot) => withIssuers(snapshot, { default: reference }))
  }

  async keys(): Promise<KeysSettings> {
    authorizeOnMount(this.#access, "read", "config/keys")
    return (await currentSnapshot(this.#access)).settings.keys
  }

  async changeKeys({ default: reference }: KeysSettingsPatch): Promise<Saved<KeysSettings>> {
    authorizeOnMount(this.#access, writing, "config/keys")
    return this.#change("keys", (snapshot) => {
      const { keys } = snapshot.settings
      if (reference === undefined) return { value: keys, warnings: [] }
      rejectNoChoice(reference)
      return { value: { ...keys, default: keyOf(snapshot, reference).id }, warnings: [] }
    })
  }

  async urls(): Promise<AuthorityUrls> {
    authorizeOnMount(this.#access, "read", "config/urls")
    return (await currentSnapshot(this.#access)).settings.urls
  }

  async changeUrls(patch: Partial<AuthorityUrls>): Promise<Saved<AuthorityUrls>> {
    authorizeOnMount(this.#access, writing, "config/urls")
    return this.#change("urls", ({ settings }) => {
      const value = { ...settings.urls, ...patch }
      rejectFaults(urlFaults(value))
      return { value, warnings: templateWarnings({ ...settings, urls: value }) }
    })
  }

  async cluster(): Promise<ClusterSettings> {
    authorizeOnMount(this.#access, "read", "config/cluster")
    return (await currentSnapshot(this.#access)).settings.cluster
  }

  async changeCluster(patch: Partial<ClusterSettings>): Promise<Saved<ClusterSettings>> {
    authorizeOnMount(this.#access, writing, "config/cluster")
    return this.#change("cluster", ({ settings }) => {
      const value = withoutSlashes({ ...settings.cluster, ...patch })
      rejectFaults(clusterFaults(value))
      return { value, warnings: templateWarnings({ ...settings, cluster: value }) }
    })
  }

  async acme(): Promise<AcmeSettings> {
    authorizeOnMount(this.#access, "read", "config/acme")
    return (await currentSnapshot(this.#access)).settings.acme
  }

  async changeAcme(patch: Partial<AcmeSettings>): Promise<Saved<WrittenAcmeSettings>> {
    authorizeOnMount(this.#access, writing, "config/acme")
    const rule = (snapshot: MountSnapshot) => {
      const { mount, roles, settings } = snapshot
      const value = { ...settings.acme, ...patch }
      const hasIssuer = (reference: string) => findIssuer(snapshot, reference) !== undefined
      rejectFaults(acmeSettingsFaults(value, { mount, clusterPath: settings.cluster.path, roles, hasIssuer }))
      return { value, warnings: [...noStoreWarnings(value, roles), ...acmeIssuerWarnings(value, { roles, hasIssuer })] }
    }
    const { value, warnings } = await this.#change("acme", rule, async ({ mount, settings }, after, store) => {
      if (!asksOwnersAnew(settings.acme.caaIdentities, after.caaIdentities)) return
      await store.save(mount.id, "caaHistory", { identitiesChangedAt: this.#access.context.runtime.clock.now() })
    })
    const { allowedIssuers, allowedRoles, defaultDirectoryPolicy, dnsResolver, eabPolicy, enabled } = value
    return {
      value: { allowedIssuers, allowedRoles, defaultDirectoryPolicy, dnsResolver, eabPolicy, enabled },
      warnings,
    }
  }

  async est(): Promise<EstSettings> {
    authorizeOnMount(this.#access, "read", "config/est")
    return (await currentSnapshot(this.#access)).settings.est
  }

  async changeEst(patch: Partial<EstSettings>): Promise<Saved<EstSettings>> {
    authorizeOnMount(this.#access, writing, "config/est")
    const lastUpdated = this.#access.context.runtime.clock.now()
    return changeMount(this.#access, async ({ mount, roles, settings }, repositories) => {
      const value: EstSettings = { ...settings.est, ...patch, lastUpdated }
      const types = new Map((await repositories.authMethods.list()).map(({ accessor, type }) => [accessor, type]))
      const { delegatedAuthAccessors } = mount.config
      rejectFaults(
        estSettingsFaults(value, {
          mountPath: mount.path,
          roles,
          delegatedAuthAccessors,
          typeOf: (accessor) => types.get(accessor),
        }),
      )
      const labels = registeredLabels(value)
      const [taken] = await repositories.estLabels.taken(mount.id, labels)
      if (taken !== undefined) throw conflict(takenLabel(taken.label))
      await repositories.estLabels.replace(mount.id, labels)
      await repositories.mountSettings.save(mount.id, "est", value)
      return { value, warnings: [] }
    })
  }

  #change<Name extends keyof MountSettings>(
    name: Name,
    rule: (snapshot: MountSnapshot) => Saved<MountSettings[Name]>,
    /** Saves related settings in the same transaction. */
    alongside?: (snapshot: MountSnapshot, value: MountSettings[Name], store: MountSettingsRepository) => Promise<void>,
  ): Promise<Saved<MountSettings[Name]>> {
    return changeMount(this.#access, async (snapshot, { mountSettings }) => {
      const saved = rule(snapshot)
      await mountSettings.save(snapshot.mount.id, name, saved.value)
      if (name === "issuers")
        await mountSettings.save(snapshot.mount.id, "history", {
          issuersChangedAt: this.#access.context.runtime.clock.now(),
        })
      await alongside?.(snapshot, saved.value, mountSettings)
      return saved
    })
  }
}

const takenLabel = (label: string): string =>
  label === ""
    ? 'another mount is the default mount of EST; set its "default_mount" to false first'
    : `another mount has registered the EST label ${JSON.stringify(label)}`

function withIssuers(
  snapshot: MountSnapshot,
  { default: reference, defaultFollowsLatestIssuer }: IssuersSettingsPatch,
): Saved<IssuersSettings> {
  const before = snapshot.settings.issuers
  const follows = defaultFollowsLatestIssuer ?? before.defaultFollowsLatestIssuer
  if (reference === undefined) return { value: { ...before, defaultFollowsLatestIssuer: follows }, warnings: [] }
  rejectNoChoice(reference)
  const { id, keyId, revokedAt } = issuerOf(snapshot, reference)
  return {
    value: { ...before, default: id, defaultFollowsLatestIssuer: follows },
    warnings: [
      ...(keyId === null ? [`issuer ${id} has no key in this mount, so nothing can be issued by default`] : []),
      ...(revokedAt === null ? [] : [`issuer ${id} is revoked, so nothing can be issued by default`]),
    ],
  }
}

/** Rejects an empty reference and `default`, which would refer to the setting itself. */
function rejectNoChoice(reference: string): void {
  const isChoice = reference !== "" && reference !== defaultReference
  rejectFaults(
    isChoice ? [] : [{ field: ["default"], detail: `"default" must be an id or a name other than "default"` }],
  )
}

/** Returns a warning for each allowed role with `no_store`. The setting may name such roles, but no directory serves them. */
const noStoreWarnings = ({ allowedRoles }: AcmeSettings, roles: MountSnapshot["roles"]): readonly string[] =>
  allowedRoles
    .filter((name) => roles.get(name)?.noStore === true)
    .map((name) => `the role ${name} in allowed_roles cannot be used with ACME, because its no_store is true`)

/**
 * Returns warnings about templates without values. Operators see them when they set templates or remove values, and not only at the
 * next issuance.
 */
const templateWarnings = (settings: Pick<MountSettings, "urls" | "cluster">): readonly string[] =>
  filledUrls({ id: anyIssuer, settings: defaultIssuerSettings }, settings).warnings
const anyIssuer = "iss-any" as Parameters<typeof filledUrls>[0]["id"]

/** Result of a change, with warnings for the client. */
export interface Saved<T> {
  readonly value: T
  readonly warnings: readonly string[]
}

export interface IssuersSettingsPatch {
  /** Id or name of an issuer. */
  readonly default?: string
  readonly defaultFollowsLatestIssuer?: boolean
}

export interface KeysSettingsPatch {
  /** Id or name of a key. */
  readonly default?: string
}

/** Settings of a mount: default issuer and key, URLs, cluster paths, ACME. Absent members of a change stay unchanged. */
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
  est(): Promise<EstSettings>
  /** Throws `conflict` if another mount is the default mount of EST, or has registered one of the labels. */
  changeEst(patch: Partial<EstSettings>): Promise<Saved<EstSettings>>
}

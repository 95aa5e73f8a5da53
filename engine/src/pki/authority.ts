// Snapshot of the mount configuration that an issuance reads, loaded in one query and cached under its version
// (docs/decisions/cache-versions.md). The snapshot is immutable: its holder sees the mount as of that version.
import { EngineError, unprocessable } from "../core/errors.ts"
import type { CacheVersions } from "../core/cache-versions.ts"
import type { Storage } from "../core/storage.ts"
import { VersionedCache } from "../core/versioned-cache.ts"
import type { KeyId } from "../core/ids.ts"
import type { CaKey, CaKeyStore } from "./keys/key.ts"
import { type HeldIssuer, holdIssuer } from "./issuers/held-issuer.ts"
import type { IssuerStore, IssuerUsage } from "./issuers/issuer.ts"
import type { Mount, MountId } from "./mount.ts"
import type { Role } from "./roles/role.ts"
import type { RoleStore } from "./roles/role-store.ts"
import { defaultReference } from "./names/reference-name.ts"
import { shown } from "./policy/violation.ts"
import type { MountSettings, MountSettingsStore } from "./settings/mount-settings.ts"

export interface AuthorityStore {
  /** Changes with any of what an authority is loaded from, the mount itself included. */
  cacheVersion(mountId: MountId): Promise<number>
  /** The same beside that of the table of mounts. */
  cacheVersions(mountId: MountId): Promise<{ readonly mounts: number; readonly authority: number }>
}

export interface AuthorityStores {
  readonly authorities: AuthorityStore
  readonly caKeys: CaKeyStore
  readonly issuers: IssuerStore
  readonly roles: RoleStore
  readonly mountSettings: MountSettingsStore
}

export interface Authority {
  readonly version: number
  readonly mount: Mount
  /** In the order they came. */
  readonly issuers: readonly HeldIssuer[]
  readonly keys: ReadonlyMap<KeyId, CaKey>
  readonly roles: ReadonlyMap<string, Role>
  readonly settings: MountSettings
}

const heldAuthoritiesMaximum = 1_000

/** Keeps the newest authority of each mount. */
export class Authorities {
  readonly #held = new VersionedCache<MountId, Authority>(heldAuthoritiesMaximum)

  /** The newest, if it is known and the mount has not changed since. */
  async newest(cacheVersions: Pick<CacheVersions, "authority">, mount: Mount): Promise<Authority | undefined> {
    const held = await this.#held.current(mount.id, () => cacheVersions.authority(mount.id))
    return held?.mount === mount ? held : undefined
  }

  /** As it was when somebody looked last, for whoever finds out otherwise whether it still is. */
  held(mount: Mount): Authority | undefined {
    const held = this.#held.peek(mount.id)
    return held?.mount === mount ? held : undefined
  }

  /** As it stands in a snapshot; kept. */
  async read(storage: Storage<AuthorityStores>, mount: Mount): Promise<Authority> {
    const authority = await storage.read((stores) => this.within(stores, mount))
    this.keep(authority)
    return authority
  }

  /** To be called with what a snapshot showed, once its read is over (`VersionedCache`). */
  keep(authority: Authority): void {
    this.#held.keep(authority.mount.id, authority)
  }

  /** In a unit of work. Within a transaction the version may be one that never comes about: it is used, and not kept. */
  async within(stores: AuthorityStores, mount: Mount): Promise<Authority> {
    const version = await stores.authorities.cacheVersion(mount.id)
    const held = this.#held.at(mount.id, version)
    return held?.mount === mount ? held : load(stores, mount, version)
  }
}

async function load(stores: AuthorityStores, mount: Mount, version: number): Promise<Authority> {
  const issuers = await stores.issuers.list(mount.id)
  const keys = await stores.caKeys.list(mount.id)
  const roles = await stores.roles.list(mount.id)
  return {
    version,
    mount,
    issuers: issuers.map(holdIssuer),
    keys: new Map(keys.map((key) => [key.id, key])),
    roles: new Map(roles.map(({ name, role }) => [name, role])),
    settings: await stores.mountSettings.all(mount.id),
  }
}

/** Finds an issuer by id, by name, or by the literal `default`. */
export function findIssuer(authority: Authority, reference: string): HeldIssuer | undefined {
  const { issuers, settings } = authority
  const id = reference === defaultReference ? settings.issuers.default : reference
  if (id === null) return undefined
  return issuers.find((issuer) => issuer.id === id) ?? issuers.find((issuer) => issuer.name === id)
}

/** Throws `EngineError("not-found")` naming the reference; issuers of a mount are no secret. */
export function issuerOf(authority: Authority, reference: string): HeldIssuer {
  const issuer = findIssuer(authority, reference)
  if (issuer !== undefined) return issuer
  throw reference === defaultReference
    ? unprocessable("no default issuer currently configured")
    : new EngineError("not-found", `unable to find PKI issuer for reference: ${shown(reference)}`)
}

export function findKey({ keys, settings }: Authority, reference: string): CaKey | undefined {
  const id = reference === defaultReference ? settings.keys.default : reference
  if (id === null) return undefined
  const all = [...keys.values()]
  return all.find((key) => key.id === id) ?? all.find((key) => key.name === id)
}

/** By id, by name, or the literal `default`. Throws `EngineError("not-found")` naming the reference. */
export function keyOf(authority: Authority, reference: string): CaKey {
  const key = findKey(authority, reference)
  if (key !== undefined) return key
  throw reference === defaultReference
    ? unprocessable("no default key currently configured")
    : new EngineError("not-found", `unable to find PKI key for reference: ${shown(reference)}`)
}

export function refuseUnusable(issuer: HeldIssuer, usage: IssuerUsage): void {
  const named = issuer.name ?? issuer.id
  if (!issuer.settings.usage.includes(usage))
    throw unprocessable(
      `requested usage ${usage} for issuer [${named}] but only had usage ${issuer.settings.usage.join(",")}`,
    )
  if (issuer.keyId === null) throw unprocessable(`issuer [${named}] has no key in this mount, so it cannot sign`)
  if (usage === "issuing-certificates" && issuer.revokedAt !== null)
    throw unprocessable(`issuer [${named}] is revoked and cannot issue certificates`)
}

// Caches mount snapshots under the version of their mount (docs/decisions/cache-versions.md).
import type { CacheVersions } from "../../core/cache-versions.ts"
import type { Storage } from "../../core/storage.ts"
import { VersionedCache } from "../../core/versioned-cache.ts"
import type { MountSnapshot, MountSnapshotRepositories } from "./mount-snapshot.ts"
import { holdIssuer } from "../issuers/parsed-issuer.ts"
import type { Mount, MountId } from "./mount.ts"

const maxCachedSnapshots = 1_000

/** Caches the newest snapshot of each mount. */
export class MountSnapshots {
  readonly #held = new VersionedCache<MountId, MountSnapshot>(maxCachedSnapshots)

  /** The newest, if it is known and the mount has not changed since. */
  async newest(cacheVersions: Pick<CacheVersions, "authority">, mount: Mount): Promise<MountSnapshot | undefined> {
    const held = await this.#held.current(mount.id, () => cacheVersions.authority(mount.id))
    return held?.mount === mount ? held : undefined
  }

  /** The cached value, which may be outdated: the caller compares its version otherwise. */
  held(mount: Mount): MountSnapshot | undefined {
    const held = this.#held.peek(mount.id)
    return held?.mount === mount ? held : undefined
  }

  /** As it stands in a snapshot; kept. */
  async read(storage: Storage<MountSnapshotRepositories>, mount: Mount): Promise<MountSnapshot> {
    const snapshot = await storage.read((stores) => this.within(stores, mount))
    this.keep(snapshot)
    return snapshot
  }

  /** To be called with what a snapshot showed, once its read is over (`VersionedCache`). */
  keep(snapshot: MountSnapshot): void {
    this.#held.keep(snapshot.mount.id, snapshot)
  }

  /** In a unit of work. Within a transaction the version may be one that never comes about: it is used, and not kept. */
  async within(stores: MountSnapshotRepositories, mount: Mount): Promise<MountSnapshot> {
    const version = await stores.authorities.cacheVersion(mount.id)
    const held = this.#held.at(mount.id, version)
    return held?.mount === mount ? held : load(stores, mount, version)
  }
}

async function load(stores: MountSnapshotRepositories, mount: Mount, version: number): Promise<MountSnapshot> {
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

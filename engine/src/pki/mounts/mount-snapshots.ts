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

  /** Returns the cached snapshot if the mount has not changed since. */
  async newest(cacheVersions: Pick<CacheVersions, "authority">, mount: Mount): Promise<MountSnapshot | undefined> {
    const held = await this.#held.current(mount.id, () => cacheVersions.authority(mount.id))
    return held?.mount === mount ? held : undefined
  }

  /** Returns the cached snapshot, which may be outdated: the caller checks its version itself. */
  held(mount: Mount): MountSnapshot | undefined {
    const held = this.#held.peek(mount.id)
    return held?.mount === mount ? held : undefined
  }

  /** Reads the snapshot of the mount in a read transaction, and caches it. */
  async read(storage: Storage<MountSnapshotRepositories>, mount: Mount): Promise<MountSnapshot> {
    const snapshot = await storage.read((stores) => this.within(stores, mount))
    this.keep(snapshot)
    return snapshot
  }

  /** Caches a snapshot. Call it when the read that returned it has ended (see `VersionedCache`). */
  keep(snapshot: MountSnapshot): void {
    this.#held.keep(snapshot.mount.id, snapshot)
  }

  /** Reads the snapshot in a unit of work. It is not cached, because a transaction may roll back its version. */
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

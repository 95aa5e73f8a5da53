// Caches mount snapshots under the version of their mount (docs/decisions/cache-versions.md).
import type { CacheVersions } from "../../core/cache-versions.ts"
import type { Storage } from "../../core/storage.ts"
import { VersionedCache } from "../../core/versioned-cache.ts"
import type { MountSnapshot, MountSnapshotRepositories } from "./mount-snapshot.ts"
import { parseIssuer } from "../issuers/parsed-issuer.ts"
import type { Mount, MountId } from "./mount.ts"

const maxCachedSnapshots = 1_000

/** Caches the newest snapshot of each mount. */
export class MountSnapshots {
  readonly #cache = new VersionedCache<MountId, MountSnapshot>(maxCachedSnapshots)

  /** Returns the cached snapshot if the mount has not changed since. */
  async newest(cacheVersions: Pick<CacheVersions, "authority">, mount: Mount): Promise<MountSnapshot | undefined> {
    const cached = await this.#cache.current(mount.id, () => cacheVersions.authority(mount.id))
    return cached?.mount === mount ? cached : undefined
  }

  /** Returns the cached snapshot, which may be outdated: the caller checks its version itself. */
  cached(mount: Mount): MountSnapshot | undefined {
    const cached = this.#cache.peek(mount.id)
    return cached?.mount === mount ? cached : undefined
  }

  /** Reads the snapshot of the mount in a read transaction, and caches it. */
  async read(storage: Storage<MountSnapshotRepositories>, mount: Mount): Promise<MountSnapshot> {
    const snapshot = await storage.read((repositories) => this.within(repositories, mount))
    this.keep(snapshot)
    return snapshot
  }

  /** Caches a snapshot. Call it when the read that returned it has ended (see `VersionedCache`). */
  keep(snapshot: MountSnapshot): void {
    this.#cache.keep(snapshot.mount.id, snapshot)
  }

  /** Reads the snapshot in a unit of work. It is not cached, because a transaction may roll back its version. */
  async within(repositories: MountSnapshotRepositories, mount: Mount): Promise<MountSnapshot> {
    const version = await repositories.authorities.cacheVersion(mount.id)
    const cached = this.#cache.at(mount.id, version)
    return cached?.mount === mount ? cached : load(repositories, mount, version)
  }
}

async function load(repositories: MountSnapshotRepositories, mount: Mount, version: number): Promise<MountSnapshot> {
  const issuers = await repositories.issuers.list(mount.id)
  const keys = await repositories.caKeys.list(mount.id)
  const roles = await repositories.roles.list(mount.id)
  return {
    version,
    mount,
    issuers: issuers.map(parseIssuer),
    keys: new Map(keys.map((key) => [key.id, key])),
    roles: new Map(roles.map(({ name, role }) => [name, role])),
    settings: await repositories.mountSettings.all(mount.id),
  }
}

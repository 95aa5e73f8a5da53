import type { MountVersionRepository } from "../pki/authority.ts"
import type { MountId } from "../pki/mount.ts"
import { authorityFamily, bumpCacheVersion, readCacheVersion, readMountVersions } from "./cache-versions.ts"
import type { QueryRunner } from "./session.ts"

export class SqlAuthorityRepository implements MountVersionRepository {
  readonly #session: QueryRunner

  constructor(session: QueryRunner) {
    this.#session = session
  }

  cacheVersion(mountId: MountId): Promise<number> {
    return readCacheVersion(this.#session, authorityFamily(mountId))
  }

  cacheVersions(mountId: MountId): Promise<{ readonly mounts: number; readonly authority: number }> {
    return readMountVersions(this.#session, mountId)
  }
}

/**
 * Whoever changes a key, an issuer, a role or a setting of a mount says so, in the same transaction. Before a row that a
 * constraint may refuse: of two transactions that insert the same one is run again by this, and finds the row of the other.
 */
export const bumpAuthority = (session: QueryRunner, mountId: MountId): Promise<void> =>
  bumpCacheVersion(session, authorityFamily(mountId))

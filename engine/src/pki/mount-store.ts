import type { Mount, MountId } from "./mount.ts"

export interface MountRepository {
  /** Returns a number that increases with every change of a mount (docs/decisions/cache-versions.md). */
  cacheVersion(): Promise<number>
  /** By path. */
  list(): Promise<readonly Mount[]>
  /** Both throw `EngineError("conflict")` when the path is taken; they and `remove` make a new version. */
  insert(mount: Mount): Promise<void>
  save(mount: Mount): Promise<void>
  /** With everything that hangs on it. */
  remove(id: MountId): Promise<void>
}

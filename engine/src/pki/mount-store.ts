import type { Mount, MountId } from "./mount.ts"

export interface MountStore {
  /** Grows with every change to a mount (architecture 0.23). */
  cacheVersion(): Promise<number>
  /** By path. */
  list(): Promise<readonly Mount[]>
  /** Both throw `EngineError("conflict")` when the path is taken; they and `remove` make a new version. */
  insert(mount: Mount): Promise<void>
  save(mount: Mount): Promise<void>
  /** With everything that hangs on it. */
  remove(id: MountId): Promise<void>
}

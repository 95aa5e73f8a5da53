import type { Mount, MountInput, MountMove, MountPatch } from "./mount.ts"

/** What a caller is shown of a mount. */
export type MountView = Omit<Mount, "id" | "createdAt">

/**
 * Where certificate authorities are mounted. A path is taken with or without a "/" at its end; one that is not mounted is
 * `not-found`, one that is taken, or lies above or below a mount, is a `conflict`.
 */
export interface Mounts {
  create(input: MountInput): Promise<MountView>
  /** All of them, by path. */
  list(): Promise<readonly MountView[]>
  get(path: string): Promise<MountView>
  tune(path: string, patch: MountPatch): Promise<MountView>
  /** With everything in it: issuers, keys, roles and the records of what was issued. */
  delete(path: string): Promise<void>
  /** With everything in it. */
  move(from: string, to: string): Promise<MountView>
  /** What a move was, by its id; `not-found` for what is no id, or once the mount is deleted. */
  moved(moveId: string): Promise<MountMove>
}

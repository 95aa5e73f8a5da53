import type { MountId } from "../mounts/mount.ts"

/** Path below `/.well-known/est` that a mount has registered. */
export interface EstLabel {
  /** Empty: the path without a label. */
  readonly label: string
  readonly mountId: MountId
}

/** Labels of all mounts, each registered by one mount. */
export interface EstLabelRepository {
  find(label: string): Promise<EstLabel | undefined>
  /** Returns those of the labels that other mounts have registered. */
  taken(mountId: MountId, labels: readonly string[]): Promise<readonly EstLabel[]>
  /** Replaces the labels of a mount. Throws `conflict` if another mount has one of them. */
  replace(mountId: MountId, labels: readonly string[]): Promise<void>
}

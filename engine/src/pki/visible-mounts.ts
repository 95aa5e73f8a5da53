// Which mounts whoever looks around is told of (pki-facts 4.2): more than who may manage them, and less than everybody.
import { reachesBelow } from "../core/access.ts"
import type { Caller } from "../core/caller.ts"
import { forbidden } from "../core/errors.ts"
import type { Mount } from "./mount.ts"
import type { MountDirectory } from "./mount-directory.ts"
import { mountViewOf } from "./mount-service.ts"
import type { MountView } from "./mounts.ts"

export interface VisibleMounts {
  /** Those where a rule of the caller's grants anything, and those that are told to everybody. */
  list(): Promise<readonly MountView[]>
  /** The one that a path lies in. Throws `forbidden` whether there is none or no rule leads there. */
  around(path: string): Promise<MountView>
}

export class VisibleMountService implements VisibleMounts {
  readonly #directory: MountDirectory
  readonly #caller: Caller

  constructor(directory: MountDirectory, caller: Caller) {
    this.#directory = directory
    this.#caller = caller
  }

  async list(): Promise<readonly MountView[]> {
    const { mounts } = await this.#directory.current()
    return mounts.filter((mount) => this.#isVisible(mount)).map(mountViewOf)
  }

  async around(path: string): Promise<MountView> {
    const found = (await this.#directory.current()).resolve(path.split("/"))
    if (found === undefined || !reachesBelow(this.#caller, found.mount.path)) {
      const advice = `please ensure client's policies grant access to path "${path}/"`
      throw forbidden(`preflight capability check returned 403, ${advice}`)
    }
    return mountViewOf(found.mount)
  }

  #isVisible({ path, config }: Mount): boolean {
    return config.listingVisibility === "unauth" || reachesBelow(this.#caller, path)
  }
}

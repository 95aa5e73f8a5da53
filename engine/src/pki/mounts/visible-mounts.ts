// Mounts and auth methods that `sys/internal/ui/mounts` shows to a caller: those below which the caller has any right.
import { reachesBelow } from "../../core/access.ts"
import type { Caller } from "../../core/caller.ts"
import { forbidden } from "../../core/errors.ts"
import type { AuthMethodDirectory } from "../../access/logins/auth-method-directory.ts"
import { authMethodViewOf } from "../../access/logins/auth-method-service.ts"
import type { AuthMethodView } from "../../access/logins/auth-method-api.ts"
import type { MountDirectory } from "./mount-directory.ts"
import { mountViewOf } from "./mount-service.ts"
import type { MountConfig, MountView } from "./mount.ts"

export interface VisibleMounts {
  /** Returns the mounts and auth methods on which the caller has any right, and those with the visibility `unauth`. */
  list(): Promise<{ readonly mounts: readonly MountView[]; readonly authMethods: readonly AuthMethodView[] }>
  /**
   * Returns the mount or auth method that contains a path; paths of auth methods begin with `auth/`. Throws `forbidden` if there is
   * none, and likewise if no rule of the caller applies below it.
   */
  around(path: string): Promise<MountView | AuthMethodView>
}

interface Placed {
  /** Path below `/v1`. */
  readonly place: string
  readonly config: MountConfig
}

export class VisibleMountService implements VisibleMounts {
  readonly #mounts: MountDirectory
  readonly #authMethods: AuthMethodDirectory
  readonly #caller: Caller

  constructor(mounts: MountDirectory, authMethods: AuthMethodDirectory, caller: Caller) {
    this.#mounts = mounts
    this.#authMethods = authMethods
    this.#caller = caller
  }

  async list() {
    const { mounts } = await this.#mounts.current()
    const { methods } = await this.#authMethods.current()
    return {
      mounts: mounts.filter(({ path, config }) => this.#isVisible({ place: path, config })).map(mountViewOf),
      authMethods: methods
        .filter(({ path, config }) => this.#isVisible({ place: `auth/${path}`, config }))
        .map(authMethodViewOf),
    }
  }

  async around(path: string): Promise<MountView | AuthMethodView> {
    const found = await this.#placed(path.split("/"))
    if (found === undefined || !reachesBelow(this.#caller, found.place)) {
      const advice = `please ensure client's policies grant access to path "${path}/"`
      throw forbidden(`preflight capability check returned 403, ${advice}`)
    }
    return found.view
  }

  async #placed(segments: readonly string[]) {
    if (segments[0] !== "auth") {
      const mount = (await this.#mounts.current()).resolve(segments)?.mount
      return mount && { place: mount.path, view: mountViewOf(mount) }
    }
    const method = (await this.#authMethods.current()).resolve(segments.slice(1))?.method
    if (method === undefined) return undefined
    const place = `auth/${method.path}`
    return { place, view: { ...authMethodViewOf(method), path: place } }
  }

  #isVisible({ place, config }: Placed): boolean {
    return config.listingVisibility === "unauth" || reachesBelow(this.#caller, place)
  }
}

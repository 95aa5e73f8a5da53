// Finds the mount of a label. The settings of the mount, which are cached, have the policy.
import { anonymous } from "../../core/caller.ts"
import { readMount } from "../mounts/with-mount-snapshot.ts"
import { mountAccess, type PkiContext } from "../pki-context.ts"
import { type PathPolicy, parsePathPolicy } from "./est-settings.ts"
import type { EstLabels } from "./est.ts"

export class EstLabelDirectory implements EstLabels {
  readonly #context: PkiContext

  constructor(context: PkiContext) {
    this.#context = context
  }

  async find(label: string): Promise<{ readonly mountPath: string; readonly policy: PathPolicy } | undefined> {
    const found = await this.#context.storage.read(({ estLabels }) => estLabels.find(label))
    const mount = (await this.#context.mountDirectory.current()).mounts.find(({ id }) => id === found?.mountId)
    if (mount === undefined) return undefined
    const access = mountAccess(this.#context, mount.path, anonymous, () => Promise.resolve())
    return readMount(access, async ({ settings: { est } }) => {
      const policy = parsePathPolicy((label === "" ? est.defaultPathPolicy : est.labelToPathPolicy[label]) ?? "")
      return policy && { mountPath: mount.path, policy }
    })
  }
}

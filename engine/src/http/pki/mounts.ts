import { mounts } from "../../contracts/vault/mount.ts"
import { isEngineError } from "../../core/errors.ts"
import { tokenMethod } from "../../pki/logins/auth-methods.ts"
import { mountPathOf } from "../../pki/mount.ts"
import { implement } from "../implement-vault.ts"
import type { SystemRequest } from "../pki-route.ts"

export const mountRoutes = implement(mounts, {
  list: ({ engine }: SystemRequest) => engine.mounts.list(),
  get: ({ engine }, path) => engine.mounts.get(path),
  create: async ({ engine }, path, { warnings = [], type: _, ...input }) => {
    await engine.mounts.create({ path, ...input })
    return warnings
  },
  delete: ({ engine, dialect }, path) => deleteMounted(dialect, () => engine.mounts.delete(path)),
  getTuned: ({ engine }, path) => engine.mounts.get(path),
  tune: async ({ engine }, path, patch) => void (await engine.mounts.tune(path, patch)),
  move: async ({ engine }, { from = "", to = "" }) => ({ ...(await engine.mounts.move(from, to)), from, to }),
  moved: ({ engine }, id) => engine.mounts.moved(id),
  visible: async ({ engine }) => {
    const { mounts: secret, authMethods } = await engine.visibleMounts.list()
    return { auth: [...authMethods, tokenMethod], secret }
  },
  preflight: ({ engine }, path) => engine.visibleMounts.around(mountPathOf(path)),
})

/** Vault clients expect success if nothing is mounted at the path. */
export async function deleteMounted(dialect: SystemRequest["dialect"], remove: () => Promise<void>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (dialect !== "vault" || !isEngineError(error, "not-found")) throw error
  }
}

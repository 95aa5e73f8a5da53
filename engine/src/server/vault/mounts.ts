import { tokenMethod } from "../../access/logins/auth-method-api.ts"
import { estConfig } from "../../contracts/vault/est.ts"
import { mountSettings } from "../../contracts/vault/mount-settings.ts"
import { mounts } from "../../contracts/vault/mount.ts"
import { isEngineError } from "../../core/errors.ts"
import { mountPathOf } from "../../pki/mounts/mount.ts"
import { implement } from "./implement.ts"
import type { PkiRequest, SystemRequest } from "./vault-route.ts"

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

/** Deletes a mount or an auth method. Vault clients expect success if nothing is mounted at the path. */
export async function deleteMounted(dialect: SystemRequest["dialect"], remove: () => Promise<void>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (dialect !== "vault" || !isEngineError(error, "not-found")) throw error
  }
}

export const mountSettingsRoutes = implement(mountSettings, {
  issuers: ({ pki }: PkiRequest) => pki.settings.issuers(),
  changeIssuers: ({ pki }, patch) => pki.settings.changeIssuers(patch),
  replaceRoot: ({ pki }, { default: next }) => pki.settings.replaceRoot(next),
  keys: ({ pki }) => pki.settings.keys(),
  changeKeys: ({ pki }, patch) => pki.settings.changeKeys(patch),
  urls: ({ pki }) => pki.settings.urls(),
  changeUrls: ({ pki }, patch) => pki.settings.changeUrls(patch),
  cluster: ({ pki }) => pki.settings.cluster(),
  changeCluster: ({ pki }, patch) => pki.settings.changeCluster(patch),
  acme: ({ pki }) => pki.settings.acme(),
  changeAcme: ({ pki }, patch) => pki.settings.changeAcme(patch),
})

export const estConfigRoutes = implement(estConfig, {
  get: ({ pki }: PkiRequest) => pki.settings.est(),
  configure: ({ pki }, patch) => pki.settings.changeEst(patch),
})

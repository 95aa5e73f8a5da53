import { authMethods } from "../../contracts/vault/auth-method.ts"
import { implement } from "../implement-vault.ts"
import type { SystemRequest } from "../pki-route.ts"
import { deleteMounted } from "./mounts.ts"

export const authMethodRoutes = implement(authMethods, {
  list: ({ engine }: SystemRequest) => engine.authMethods.list(),
  get: ({ engine }, path) => engine.authMethods.get(path),
  enable: async ({ engine }, path, { warnings = [], ...input }) => {
    await engine.authMethods.enable({ path, ...input })
    return warnings
  },
  disable: ({ engine, dialect }, path) => deleteMounted(dialect, () => engine.authMethods.disable(path)),
  getTuned: ({ engine }, path) => engine.authMethods.get(path),
  tune: async ({ engine }, path, patch) => void (await engine.authMethods.tune(path, patch)),
})

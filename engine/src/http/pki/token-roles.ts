import { tokenRoles } from "../../contracts/vault/token-role.ts"
import { implement } from "../implement-vault.ts"
import type { SystemRequest } from "../pki-route.ts"

export const tokenRoleRoutes = implement(tokenRoles, {
  list: ({ engine }: SystemRequest, page) => engine.tokenRoles.list(page),
  get: async ({ engine }, name) => ({ name, role: await engine.tokenRoles.get(name) }),
  save: async ({ engine }, name, input) => void (await engine.tokenRoles.save(name, input)),
  delete: ({ engine }, name) => engine.tokenRoles.delete(name),
})

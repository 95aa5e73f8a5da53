import { roles } from "../../contracts/vault/role.ts"
import { implement } from "./implement.ts"
import type { PkiRequest } from "./vault-route.ts"

export const roleRoutes = implement(roles, {
  list: ({ pki }: PkiRequest, page) => pki.roles.list(page),
  get: ({ pki }, name) => pki.roles.get(name),
  save: ({ pki }, name, input) => pki.roles.save(name, input),
  update: ({ pki }, name, patch) => pki.roles.update(name, patch),
  delete: ({ pki }, name) => pki.roles.delete(name),
})

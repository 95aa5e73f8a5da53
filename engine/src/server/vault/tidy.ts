import { tidy } from "../../contracts/vault/tidy.ts"
import { implement } from "./implement.ts"
import type { PkiRequest } from "./vault-route.ts"

/** Tidying (https://developer.hashicorp.com/vault/api-docs/secret/pki#tidy). */
export const tidyRoutes = implement(tidy, {
  start: ({ pki }: PkiRequest, input) => pki.tidy.start(input),
  cancel: ({ pki }) => pki.tidy.cancel(),
  getStatus: ({ pki }) => pki.tidy.getStatus(),
  getAutomatic: ({ pki }) => pki.tidy.getAutomatic(),
  changeAutomatic: ({ pki }, patch) => pki.tidy.changeAutomatic(patch),
})

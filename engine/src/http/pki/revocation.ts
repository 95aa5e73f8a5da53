import { revocations } from "../../contracts/vault/revocation.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest } from "../pki-route.ts"

export const revocationRoutes = implement(revocations, {
  revoke: ({ pki }: PkiRequest, input) => pki.revocations.revoke(input),
  revokeWithKey: ({ pki }, input) => pki.revocations.revokeWithKey(input),
  list: ({ pki }, page) => pki.revocations.list(page),
  requested: ({ pki }) => pki.revocations.requested(),
  elsewhere: ({ pki }) => pki.revocations.elsewhere(),
})

import { tokenRoles } from "../contracts/vault/token-role.ts"
import type { TokenRoles } from "../pki/access/token-roles.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

/** A role that is saved is read back, because that answer is empty: the caller must be allowed to read it. */
export function remoteTokenRoles(calls: PkiCalls): TokenRoles {
  const roles = remote(tokenRoles, calls)
  return {
    ...roles,
    async save(name, input) {
      await roles.save(name, input)
      return roles.get(name)
    },
  }
}

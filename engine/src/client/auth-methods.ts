import { authMethods } from "../contracts/vault/auth-method.ts"
import { authMethodPathFaults } from "../pki/logins/auth-method.ts"
import type { AuthMethods } from "../pki/logins/auth-methods.ts"
import { mountPathOf } from "../pki/mount.ts"
import { addressablePath, type PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

/** Reads an auth method after it is enabled or tuned, because those answers are empty. The caller needs the right to read it. */
export function remoteAuthMethods(calls: PkiCalls): AuthMethods {
  const { enable, list, tune, disable, ...contract } = remote(authMethods, calls)
  const get = async (text: string) => {
    const path = mountPathOf(text)
    return (await contract.get(path))(path)
  }
  return {
    async enable({ path: text, ...input }) {
      const path = addressablePath(text, authMethodPathFaults)
      await enable(path, input)
      return get(path)
    },
    list,
    get,
    async tune(path, patch) {
      await tune(mountPathOf(path), patch)
      return get(path)
    },
    disable: (path) => disable(mountPathOf(path)),
  }
}

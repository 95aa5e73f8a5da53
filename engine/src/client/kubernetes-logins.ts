import { kubernetesLogins } from "../contracts/vault/kubernetes-login.ts"
import type { KubernetesLogins } from "../pki/logins/kubernetes/kubernetes-logins.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

/** `calls` go below the method. */
export function remoteKubernetesLogins(calls: PkiCalls): KubernetesLogins {
  const { configure, login, ...logins } = remote(kubernetesLogins, calls)
  return {
    ...logins,
    configure: async (input) => ({ warnings: await configure(input) }),
    // The address that counts is that of the connection.
    login: (credentials) => login(credentials),
  }
}

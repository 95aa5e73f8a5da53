import { keys } from "../contracts/vault/key.ts"
import type { Keys } from "../pki/keys/keys.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remoteKeys(calls: PkiCalls): Keys {
  const endpoints = remote(keys, calls)
  return {
    ...endpoints,
    generate: ({ keySource = "internal", ...input }) => endpoints.generate(keySource, input),
    import: (pemBundle, keyName) => endpoints.import({ pemBundle, ...(keyName === undefined ? {} : { keyName }) }),
  }
}

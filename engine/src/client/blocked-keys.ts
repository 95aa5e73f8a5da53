import { blockedKeys } from "../contracts/vault/blocked-key.ts"
import type { BlockedKeys } from "../pki/keys/blocked-keys.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remoteBlockedKeys(calls: PkiCalls): BlockedKeys {
  const { add, addByDigest, ...keys } = remote(blockedKeys, calls)
  return {
    ...keys,
    add: ({ spkiSha256: digest, ...input }) => (digest === undefined ? add(input) : addByDigest(digest, input)),
  }
}

import { ownToken, serviceTokens, tokensByAccessor, tokensBySecret } from "../contracts/vault/service-token.ts"
import type { ServiceTokens, TokenRef } from "../pki/access/service-tokens.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remoteServiceTokens(calls: PkiCalls): ServiceTokens {
  const { lookupSelf: _, ...tokens } = remote(serviceTokens, calls)
  const [bySecret, byAccessor, own] = [
    remote(tokensBySecret, calls),
    remote(tokensByAccessor, calls),
    remote(ownToken, calls),
  ]
  const about = (ref: TokenRef) => (ref === "self" ? own : "secret" in ref ? bySecret : byAccessor)
  return {
    ...tokens,
    lookup: (ref) => about(ref).lookup(ref),
    renew: (ref, incrementMs) => about(ref).renew({ ref, ...(incrementMs !== undefined && { incrementMs }) }),
    revoke: (ref) => about(ref).revoke(ref),
    capabilities: async (ref, paths) => (await about(ref).capabilities({ ref, paths }))(paths),
  }
}

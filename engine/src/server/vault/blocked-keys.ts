import { blockedKeys } from "../../contracts/vault/blocked-key.ts"
import { implement } from "./implement.ts"
import type { SystemRequest } from "./vault-route.ts"

/** The server's list of public keys that must not be certified. */
export const blockedKeyRoutes = implement(blockedKeys, {
  list: ({ engine }: SystemRequest, page) => engine.blockedKeys.list(page),
  add: ({ engine }, input) => engine.blockedKeys.add(input),
  get: ({ engine }, digest) => engine.blockedKeys.get(digest),
  addByDigest: ({ engine }, digest, input) => engine.blockedKeys.add({ ...input, spkiSha256: digest }),
  delete: ({ engine }, digest) => engine.blockedKeys.delete(digest),
})

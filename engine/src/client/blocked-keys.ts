import type { BlockedKeys } from "../pki/keys/blocked-keys.ts"
import type { KeyDigest } from "../pki/keys/blocked-key.ts"
import { blockedKeyParameters, decodeBlockedKey } from "../wire/pki/blocked-key.ts"
import { pageQuery, type PkiCalls, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteBlockedKeys = (calls: PkiCalls): BlockedKeys => ({
  list: async (page) => (await calls.list("/sys/blocked-keys", pageQuery(page))).keys as readonly KeyDigest[],
  get: async (digest) => decodeBlockedKey((await calls.read(path`/sys/blocked-keys/${digest}`)).data),
  async add({ spkiSha256: digest, ...input }) {
    const address = digest === undefined ? "/sys/blocked-keys" : path`/sys/blocked-keys/${digest}`
    return decodeBlockedKey((await calls.write(address, saying(blockedKeyParameters, input))).data)
  },
  async delete(digest) {
    await calls.delete(path`/sys/blocked-keys/${digest}`)
  },
})

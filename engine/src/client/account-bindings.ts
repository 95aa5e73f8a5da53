import type { AccountBindings } from "../acme/account-bindings.ts"
import { directoryPath } from "../acme/directory.ts"
import { decodeEabInfo, decodeNewEab, newEabParameters } from "../wire/pki/eab.ts"
import { type PkiCalls, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteAccountBindings = (calls: PkiCalls): AccountBindings => ({
  create: async (directory, options = {}) =>
    decodeNewEab((await calls.write(`/${directoryPath(directory)}/new-eab`, saying(newEabParameters, options))).data),
  async list() {
    const { keys, keyInfo } = await calls.list("/eab")
    return keys.map((id) => decodeEabInfo(id, keyInfo[id]))
  },
  delete: async (id) => void (await calls.delete(path`/eab/${id}`)),
})

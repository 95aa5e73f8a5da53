import type { Keys } from "../pki/keys/keys.ts"
import {
  decodeGeneratedKey,
  decodeKey,
  decodeKeySummaries,
  decodeSavedKey,
  keyImportParameters,
  keyRenameParameters,
  newKeyParameters,
} from "../wire/pki/key.ts"
import { pageQuery, type PkiCalls, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteKeys = (calls: PkiCalls): Keys => ({
  async list(page) {
    const { keys, keyInfo } = await calls.list("/keys", pageQuery(page))
    return decodeKeySummaries(keys, keyInfo)
  },
  get: async (reference) => decodeKey((await calls.read(path`/key/${reference}`)).data),
  async generate({ keySource = "internal", ...input }) {
    const { document, names } = saying(newKeyParameters, input)
    const said = { document, names: { ...names, type: "keySource" } }
    return decodeGeneratedKey(await calls.write(path`/keys/generate/${keySource}`, said))
  },
  async import(pemBundle, keyName) {
    const given = { pemBundle, ...(keyName === undefined ? {} : { keyName }) }
    return decodeSavedKey(await calls.write("/keys/import", saying(keyImportParameters, given)))
  },
  async rename(reference, keyName) {
    const said = saying(keyRenameParameters, { keyName: keyName ?? "" })
    return decodeSavedKey(await calls.write(path`/key/${reference}`, said))
  },
  delete: async (reference) => (await calls.delete(path`/key/${reference}`)).warnings,
})

import type { Settings } from "../pki/settings/settings.ts"
import {
  acmeParameters,
  clusterParameters,
  decodeAcme,
  decodeCluster,
  decodeIssuersSettings,
  decodeKeysSettings,
  decodeSaved,
  decodeUrls,
  decodeWrittenAcme,
  issuersSettingsParameters,
  keysSettingsParameters,
  rootReplaceParameters,
  urlsParameters,
} from "../wire/pki/settings.ts"
import { type PkiCalls, saying } from "./pki-calls.ts"

export const remoteMountSettings = (calls: PkiCalls): Settings => ({
  issuers: async () => decodeIssuersSettings((await calls.read("/config/issuers")).data),
  changeIssuers: async (patch) =>
    decodeSaved(await calls.write("/config/issuers", saying(issuersSettingsParameters, patch)), decodeIssuersSettings),
  async replaceRoot(reference) {
    const given = reference === undefined ? {} : { default: reference }
    return decodeSaved(await calls.write("/root/replace", saying(rootReplaceParameters, given)), decodeIssuersSettings)
  },
  keys: async () => decodeKeysSettings((await calls.read("/config/keys")).data),
  changeKeys: async (patch) =>
    decodeSaved(await calls.write("/config/keys", saying(keysSettingsParameters, patch)), decodeKeysSettings),
  urls: async () => decodeUrls((await calls.read("/config/urls")).data),
  changeUrls: async (patch) =>
    decodeSaved(await calls.write("/config/urls", saying(urlsParameters, patch)), decodeUrls),
  cluster: async () => decodeCluster((await calls.read("/config/cluster")).data),
  changeCluster: async (patch) =>
    decodeSaved(await calls.write("/config/cluster", saying(clusterParameters, patch)), decodeCluster),
  acme: async () => decodeAcme((await calls.read("/config/acme")).data),
  changeAcme: async (patch) =>
    decodeSaved(await calls.write("/config/acme", saying(acmeParameters, patch)), decodeWrittenAcme),
})

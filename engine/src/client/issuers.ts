import type { Issuers } from "../pki/issuers/issuers.ts"
import {
  decodeImported,
  decodeIntermediate,
  decodeIssuer,
  decodeIssuerCertificate,
  decodeIssuerSummaries,
  decodeRoot,
  decodeSavedIssuer,
  encodeImport,
  encodeIssuerInput,
  importParameters,
  intermediateParameters,
  issuerParameters,
  rootParameters,
} from "../wire/pki/issuer.ts"
import { namesOf, pageQuery, type PkiCalls, type Saying, saying } from "./pki-calls.ts"
import { path } from "./transport.ts"

export const remoteIssuers = (calls: PkiCalls): Issuers => ({
  async generateRoot({ keySource = "internal", ...input }, endpoint = "root/generate") {
    const said = withType(saying(rootParameters, input))
    return decodeRoot(await calls.write(`/${endpoint}${path`/${keySource}`}`, said))
  },
  async generateIntermediate({ keySource = "internal", ...input }, endpoint = "intermediate/generate") {
    const said = withType(saying(intermediateParameters, input))
    const type = endpoint === "intermediate/cross-sign" ? "" : path`/${keySource}`
    return decodeIntermediate(await calls.write(`/${endpoint}${type}`, said))
  },
  async import(pem, endpoint = "issuers/import/bundle") {
    const names = { ...namesOf(importParameters), certificate: "pemBundle" }
    return decodeImported(await calls.write(`/${endpoint}`, { document: encodeImport(pem, endpoint), names }))
  },
  async list(page) {
    const { keys, keyInfo } = await calls.list("/issuers", pageQuery(page))
    return decodeIssuerSummaries(keys, keyInfo)
  },
  certificate: async (reference) => decodeIssuerCertificate((await calls.read(path`/issuer/${reference}/json`)).data),
  get: async (reference) => decodeIssuer((await calls.read(path`/issuer/${reference}`)).data),
  replace: async (reference, input) =>
    decodeSavedIssuer(await calls.write(path`/issuer/${reference}`, { document: encodeIssuerInput(input), names })),
  update: async (reference, patch) =>
    decodeSavedIssuer(await calls.patch(path`/issuer/${reference}`, { document: encodeIssuerInput(patch), names })),
  revoke: async (reference) => decodeSavedIssuer(await calls.write(path`/issuer/${reference}/revoke`)),
  delete: async (reference) => (await calls.delete(path`/issuer/${reference}`)).warnings,
  deleteAll: async () => (await calls.delete("/root")).warnings,
})

const names = namesOf(issuerParameters)

/** Where a key comes from stands in the path, and is refused by its name there. */
const withType = (said: Saying): Saying => ({ ...said, names: { ...said.names, type: "keySource" } })

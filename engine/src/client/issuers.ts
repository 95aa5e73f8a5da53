import { issuers } from "../contracts/vault/issuer.ts"
import type { Issuers } from "../pki/issuers/issuer-api.ts"
import type { PkiCalls } from "./pki-calls.ts"
import { remote } from "./remote-vault-contract.ts"

export function remoteIssuers(calls: PkiCalls): Issuers {
  const endpoints = remote(issuers, calls)
  const { list, certificate, get, replace, update, revoke, delete: remove, deleteAll } = endpoints
  const roots = {
    "root/generate": endpoints.generateRoot,
    "issuers/generate/root": endpoints.generateIssuerRoot,
    "root/rotate": endpoints.rotateRoot,
  }
  const intermediates = {
    "intermediate/generate": endpoints.generateIntermediate,
    "issuers/generate/intermediate": endpoints.generateIssuerIntermediate,
  }
  const imports = {
    "intermediate/set-signed": endpoints.setSigned,
    "config/ca": endpoints.importCa,
    "issuers/import/bundle": endpoints.importBundle,
    "issuers/import/cert": endpoints.importCertificates,
  }
  return {
    list,
    certificate,
    get,
    replace,
    update,
    revoke,
    delete: remove,
    deleteAll,
    generateRoot: ({ keySource = "internal", ...input }, endpoint = "root/generate") =>
      roots[endpoint](keySource, input),
    generateIntermediate: ({ keySource = "internal", ...input }, endpoint = "intermediate/generate") =>
      endpoint === "intermediate/cross-sign" ? endpoints.crossSign(input) : intermediates[endpoint](keySource, input),
    import: (pem, endpoint = "issuers/import/bundle") => imports[endpoint](pem),
  }
}

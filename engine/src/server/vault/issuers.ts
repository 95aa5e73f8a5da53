import type { ArgumentsOf, Version } from "../../contracts/vault/endpoint.ts"
import { csrWarnings, issuers } from "../../contracts/vault/issuer.ts"
import { isEngineError } from "../../core/errors.ts"
import type { IntermediateEndpoint, RootEndpoint, ServedIssuerCertificate } from "../../pki/issuers/issuer-api.ts"
import { sha256 } from "../../x509/digest.ts"
import { writePem } from "../../x509/pem.ts"
import { implement } from "./implement.ts"
import { keySourceOf } from "./keys.ts"
import type { PkiRequest } from "./vault-route.ts"

/** Returns the version of all public data of an issuer. */
export const versionOfIssuer = ({ id, name, caChain, revokedAt, changedAt }: ServedIssuerCertificate): Version => ({
  tag: sha256(Buffer.concat([Buffer.from(`${id} ${name ?? ""} ${revokedAt ?? ""} `), ...caChain])),
  modifiedAt: changedAt,
})

/** Returns the default issuer, or undefined if the mount has none. */
export async function defaultIssuer({ pki }: Pick<PkiRequest, "pki">): Promise<ServedIssuerCertificate | undefined> {
  try {
    return await pki.issuers.certificate("default")
  } catch (error) {
    if (isEngineError(error, "unprocessable")) return undefined
    throw error
  }
}

/** Issuers of a mount. Their certificates are readable without a token. */
export const issuerRoutes = implement(issuers, {
  generateRoot: generatesRoot("root/generate"),
  generateIssuerRoot: generatesRoot("issuers/generate/root"),
  rotateRoot: generatesRoot("root/rotate"),
  deleteAll: ({ pki }: PkiRequest) => pki.issuers.deleteAll(),
  generateIntermediate: generatesIntermediate("intermediate/generate"),
  generateIssuerIntermediate: generatesIntermediate("issuers/generate/intermediate"),
  crossSign: (request, input) => generateIntermediate(request, "intermediate/cross-sign", input),
  setSigned: ({ pki }, pem) => pki.issuers.import(pem, "intermediate/set-signed"),
  importCa: ({ pki }, pem) => pki.issuers.import(pem, "config/ca"),
  importBundle: ({ pki }, pem) => pki.issuers.import(pem, "issuers/import/bundle"),
  importCertificates: ({ pki }, pem) => pki.issuers.import(pem, "issuers/import/cert"),
  list: ({ pki }, page) => pki.issuers.list(page),
  get: ({ pki }, reference) => pki.issuers.get(reference),
  replace: ({ pki }, reference, input) => pki.issuers.replace(reference, input),
  update: ({ pki }, reference, patch) => pki.issuers.update(reference, patch),
  delete: ({ pki }, reference) => pki.issuers.delete(reference),
  revoke: ({ pki }, reference) => pki.issuers.revoke(reference),
  certificate: publicly((issuer) => issuer),
  certificateDer: publicly(({ certificate }) => certificate),
  certificatePem: publicly(({ certificate }) => writePem("CERTIFICATE", certificate)),
})

type RootParameters = NonNullable<ArgumentsOf<typeof issuers.generateRoot>[1]>
type IntermediateParameters = NonNullable<ArgumentsOf<typeof issuers.crossSign>[0]>

function generatesRoot(endpoint: RootEndpoint) {
  return async ({ pki }: PkiRequest, type: string, { format, privateKeyFormat, ...input }: RootParameters) => {
    const root = await pki.issuers.generateRoot({ ...input, keySource: keySourceOf(type) }, endpoint)
    return { ...root, format, privateKeyFormat }
  }
}

function generatesIntermediate(endpoint: IntermediateEndpoint) {
  return (request: PkiRequest, type: string, input: IntermediateParameters) =>
    generateIntermediate(request, endpoint, { ...input, keySource: keySourceOf(type) })
}

async function generateIntermediate(
  { pki }: PkiRequest,
  endpoint: IntermediateEndpoint,
  given: IntermediateParameters & { readonly keySource?: ReturnType<typeof keySourceOf> },
) {
  const { format, privateKeyFormat, ...input } = given
  const made = await pki.issuers.generateIntermediate(input, endpoint)
  return { ...made, warnings: [...made.warnings, ...csrWarnings(given)], format, privateKeyFormat }
}

function publicly<T>(of: (issuer: ServedIssuerCertificate) => T) {
  return async ({ pki }: PkiRequest, reference: string) => {
    const issuer = await pki.issuers.certificate(reference)
    return { value: of(issuer), version: versionOfIssuer(issuer) }
  }
}

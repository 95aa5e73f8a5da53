import type { ArgumentsOf } from "../../contracts/vault/endpoint.ts"
import { csrWarnings, issuers } from "../../contracts/vault/issuer.ts"
import type { IntermediateEndpoint, RootEndpoint, ServedIssuerCertificate } from "../../pki/issuers/issuers.ts"
import { writePem } from "../../x509/pem.ts"
import { implement } from "../implement-vault.ts"
import type { PkiRequest } from "../pki-route.ts"
import { versionOfIssuer } from "./issuer-version.ts"
import { keySourceOf } from "./key-source.ts"

/** Issuers of a mount. Their certificates are public. */
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

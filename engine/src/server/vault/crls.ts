import { type CrlForm, crlFileEndpoints, crlFiles, crls } from "../../contracts/vault/crl.ts"
import { notFound } from "../../core/errors.ts"
import type { Crl } from "../../pki/crl/crl-api.ts"
import { parseShard } from "../../pki/crl/shard.ts"
import type { Dialect } from "../../contracts/vault/format/dialect.ts"
import { implement } from "./implement.ts"
import type { PkiRequest, PkiRoute } from "./vault-route.ts"
import { defaultIssuer } from "./issuers.ts"

/** Certificate revocation lists, readable without a token, and their settings. */
export const crlRoutes: readonly PkiRoute[] = [
  ...implement<PkiRequest, typeof crlFileEndpoints>(
    crlFileEndpoints,
    Object.fromEntries(
      Object.entries(crlFiles).map(([path, { delta, form }]) => [
        path,
        (request: PkiRequest) => served(request, delta, form),
      ]),
    ),
  ),
  ...implement(crls, {
    rotate: ({ pki }: PkiRequest) => pki.crls.rotate(),
    rotateDelta: ({ pki }) => pki.crls.rotateDelta(),
    settings: ({ pki }) => pki.crls.settings(),
    configure: ({ pki }, patch) => pki.crls.configure(patch),
    import: ({ pki }, issuerRef, crl) => pki.crls.import(issuerRef, crl),
    resign: async ({ pki }, issuerRef, { format, ...input }) => ({
      ...(await pki.crls.resign(issuerRef, input)),
      format,
    }),
    signRevocationList: async ({ pki }, issuerRef, { format, ...input }) => ({
      ...(await pki.crls.signRevocationList(issuerRef, input)),
      format,
    }),
  }),
]

async function served(request: PkiRequest, delta: boolean, form: CrlForm) {
  const { issuer_ref: issuerRef, shard } = request.params
  // The issuer is read before the CRL. If both change in between, a later conditional request downloads the same CRL again. With the other
  // order it could keep an older one.
  const issuer =
    issuerRef === undefined ? await defaultIssuer(request) : await request.pki.issuers.certificate(issuerRef)
  const crl = await request.pki.crls.get({
    delta,
    ...(issuerRef === undefined ? {} : { issuerRef }),
    ...(shard === undefined ? {} : { shard: parseShard(shard) ?? unknownShard() }),
  })
  if (crl === undefined || issuer === undefined) return undefined
  // The reference may lead to a new issuer whose CRL is older than that of the previous one.
  const modifiedAt = Math.max(crl.thisUpdate, issuer.changedAt)
  return { value: crl.der, version: { tag: tagOf(crl, form, request.dialect), modifiedAt } }
}

const signatureEndOctets = 12

/** Returns an entity tag from the end of the signature, which is unique to each CRL. A CRL may be too long to hash at each request. */
function tagOf({ der, number }: Crl, form: CrlForm, dialect: Dialect): string {
  const shown = form !== "by dialect" ? form : dialect === "vault" ? "listed" : "der"
  return `${number}-${Buffer.from(der.subarray(-signatureEndOctets)).toString("base64url")}-${shown}`
}

function unknownShard(): never {
  throw notFound()
}

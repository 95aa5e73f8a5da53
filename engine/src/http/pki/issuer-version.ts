import { isEngineError } from "../../core/errors.ts"
import type { ServedIssuerCertificate } from "../../pki/issuers/issuers.ts"
import { sha256 } from "../../x509/digest.ts"
import type { PkiRequest } from "../pki-route.ts"
import type { Version } from "../../contracts/vault/endpoint.ts"

/** Of everything that anybody may read of an issuer. */
export const versionOfIssuer = ({ id, name, caChain, revokedAt, changedAt }: ServedIssuerCertificate): Version => ({
  tag: sha256(Buffer.concat([Buffer.from(`${id} ${name ?? ""} ${revokedAt ?? ""} `), ...caChain])),
  modifiedAt: changedAt,
})

/** Undefined where the mount has none. */
export async function defaultIssuer({ pki }: Pick<PkiRequest, "pki">): Promise<ServedIssuerCertificate | undefined> {
  try {
    return await pki.issuers.certificate("default")
  } catch (error) {
    if (isEngineError(error, "unprocessable")) return undefined
    throw error
  }
}

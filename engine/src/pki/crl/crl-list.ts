// Identifies the list of a revoked certificate. Issuers with the same subject and key are one CRL issuer, even with several
// certificates (RFC 5280, section 5). The id of a list is therefore derived from both.
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import { sha256 } from "../../x509/digest.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"

declare const brand: unique symbol
export type CrlListId = string & { readonly [brand]: "CRL list" }

/** List of certificates with an unknown issuer. Its entries move to the list of the default issuer once there is one. */
export const listOfUnknownIssuers = "" as CrlListId

export const crlListOf: (issuer: ParsedIssuer) => CrlListId = memoizeByIdentity(
  ({ parsed }: ParsedIssuer) =>
    sha256(Buffer.concat([parsed.subject, parsed.subjectPublicKeyInfo])).slice(0, 32) as CrlListId,
)

/** Returns the octets of a CRLNumber. */
export function magnitude(number: number): Uint8Array {
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64BE(BigInt(number))
  return octets
}

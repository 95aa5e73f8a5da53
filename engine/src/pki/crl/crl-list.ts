// Whose list a revoked certificate is on. Issuers with one subject and one key are one CRL issuer, however many certificates
// they have (RFC 5280, section 5), so that their list is named after both.
import { memoizeByIdentity } from "../../core/memoize-by-identity.ts"
import { sha256 } from "../../x509/digest.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"

declare const brand: unique symbol
export type CrlListId = string & { readonly [brand]: "CRL list" }

/** Of certificates whose issuer is not known. They go to the list of the default issuer as soon as there is one. */
export const listOfUnknownIssuers = "" as CrlListId

export const crlListOf: (issuer: ParsedIssuer) => CrlListId = memoizeByIdentity(
  ({ parsed }: ParsedIssuer) =>
    sha256(Buffer.concat([parsed.subject, parsed.subjectPublicKeyInfo])).slice(0, 32) as CrlListId,
)

/** The octets of a CRLNumber. */
export function magnitude(number: number): Uint8Array {
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64BE(BigInt(number))
  return octets
}

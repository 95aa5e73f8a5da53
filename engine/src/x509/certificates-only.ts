// Certificate bundles as other CAs distribute them: PKCS #7, or CMS, SignedData without signatures (RFC 5652, section 5; "certs-only" of
// RFC 5272, section 4.1). pkijs parses the frame, after a check that it is DER of bounded depth with few certificates. The caller parses
// each certificate.
import { createRequire } from "node:module"
import type * as Asn1js from "asn1js"
import type * as Pkijs from "pkijs"
import { oids } from "./asn1/oids.ts"
import { DerReader, rejectMalformed } from "./asn1/reader.ts"
import { ascending, context, encode, integer, objectIdentifier, sequence, setOf } from "./asn1/writer.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

const require = createRequire(import.meta.url)
/** Loaded with the first bundle. Few processes read any, and loading delays the start. */
const asn1js = () => require("asn1js") as typeof Asn1js
const pkijs = () => require("pkijs") as typeof Pkijs

/** A chain has a few certificates, and pkijs takes two milliseconds for each. */
const maxCertificates = 16

/** Returns the DER of each certificate in the order of the bundle. Throws `MalformedDer` or `UnacceptableInput` for anything else. */
export function readCertificatesOnly(der: Uint8Array): readonly Uint8Array[] {
  rejectMalformed(der, document)
  rejectMany(der)
  const { certificates = [] } = signedData(der)
  const { Certificate } = pkijs()
  return certificates.map((certificate) => {
    if (!(certificate instanceof Certificate))
      throw new UnacceptableInput("The PKCS #7 bundle contains an entry that is not an X.509 certificate")
    return new Uint8Array(certificate.toSchema().toBER())
  })
}

const document = "PKCS #7"

/** Returns the bundle of these certificates, which are DER. They are a SET, so their order is not that of the input. */
export const writeCertificatesOnly = (certificates: readonly Uint8Array[]): Uint8Array =>
  encode(
    sequence([
      objectIdentifier(oids.signedData),
      context(0, [
        sequence([
          integer(1),
          setOf([]),
          sequence([objectIdentifier(oids.data)]),
          context(0, ascending(certificates)),
          setOf([]),
        ]),
      ]),
    ]),
  )

function rejectMany(der: Uint8Array): void {
  const info = new DerReader(der, document).sequence("ContentInfo")
  if (info.oid("contentType") !== oids.signedData) throw new UnacceptableInput("The PKCS #7 bundle is not SignedData")
  const signed = info.optional(0, "content")?.sequence("SignedData")
  for (const field of ["version", "digestAlgorithms", "encapContentInfo"]) signed?.value(field)
  const certificates = signed?.optional(0, "certificates")
  for (let count = 0; count < maxCertificates; count += 1) {
    if (certificates === undefined || certificates.done) return
    certificates.value("certificate")
  }
  if (certificates?.done === false)
    throw new UnacceptableInput(`The PKCS #7 bundle contains more than ${maxCertificates} certificates`)
}

function signedData(der: Uint8Array): Pkijs.SignedData {
  const { ContentInfo, SignedData } = pkijs()
  try {
    const { result } = asn1js().fromBER(Uint8Array.from(der).buffer)
    const { content } = new ContentInfo({ schema: result })
    return new SignedData({ schema: content })
  } catch {
    throw new UnacceptableInput("The PKCS #7 bundle cannot be read")
  }
}

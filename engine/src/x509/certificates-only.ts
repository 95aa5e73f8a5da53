// Bundles of certificates in the form that other authorities hand them out in: PKCS #7, or CMS, SignedData that nobody
// signed (RFC 5652, section 5; "certs-only" of RFC 5272, section 4.1). pkijs reads the frame, once it is known to be DER
// of a bounded depth; every certificate in it is read by whoever uses it.
import { fromBER } from "asn1js"
import { Certificate, ContentInfo, SignedData } from "pkijs"
import { oids } from "./asn1/oids.ts"
import { refuseMalformed } from "./asn1/reader.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

/** DER of each certificate, in the order of the bundle. `MalformedDer` or `UnacceptableInput` for anything else. */
export function readCertificatesOnly(der: Uint8Array): readonly Uint8Array[] {
  refuseMalformed(der, "PKCS #7")
  const { certificates = [] } = signedData(der)
  return certificates.map((certificate) => {
    if (!(certificate instanceof Certificate))
      throw new UnacceptableInput("The PKCS #7 bundle holds what is no X.509 certificate")
    return new Uint8Array(certificate.toSchema().toBER())
  })
}

function signedData(der: Uint8Array): SignedData {
  try {
    const { result } = fromBER(Uint8Array.from(der).buffer)
    const { contentType, content } = new ContentInfo({ schema: result })
    if (contentType !== oids.signedData) throw new UnacceptableInput("The PKCS #7 bundle is no SignedData")
    return new SignedData({ schema: content })
  } catch (error) {
    if (error instanceof UnacceptableInput) throw error
    throw new UnacceptableInput("The PKCS #7 bundle cannot be read")
  }
}

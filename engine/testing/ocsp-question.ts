// An OCSP request for one certificate, as a client encodes it.
import { oids } from "../src/x509/asn1/oids.ts"
import { context, encode, objectIdentifier, octetString, sequence, unsignedInteger } from "../src/x509/asn1/writer.ts"
import { parseCertificate } from "../src/x509/certificate.ts"
import { encodeExtensions } from "../src/x509/extension.ts"
import { issuerHashes } from "../src/x509/ocsp.ts"
import { readPublicKey } from "../src/x509/public-key.ts"

export interface Question {
  readonly digest: "sha1" | "sha256"
  /** Certificate of the issuer, DER. */
  readonly issuer: Uint8Array
  /** Unsigned magnitude, big-endian. */
  readonly serialNumber: Uint8Array
  readonly nonce?: Uint8Array
}

/** Returns the request in DER. */
export function ocspQuestion({ digest, issuer, serialNumber, nonce }: Question): Uint8Array {
  const { subject, subjectPublicKeyInfo } = parseCertificate(issuer)
  const publicKeyBits = readPublicKey(subjectPublicKeyInfo).octets
  const { nameHash, keyHash } = issuerHashes(digest, { name: subject, publicKeyBits })
  const algorithm = sequence([objectIdentifier(oids[digest])])
  const id = sequence([algorithm, octetString(nameHash), octetString(keyHash), unsignedInteger(serialNumber)])
  const list = sequence([sequence([id])])
  if (nonce === undefined) return encode(sequence([sequence([list])]))
  const value = encode(octetString(nonce))
  const extensions = encodeExtensions([{ oid: oids.ocspNonce, critical: false, value }])
  return encode(sequence([sequence([list, context(2, [extensions])])]))
}

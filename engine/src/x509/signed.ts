// What certificates, certification requests, CRLs and OCSP answers have in common: a body, an algorithm, a signature
// (RFC 5280, section 4.1.1).
import { DerReader } from "./asn1/reader.ts"
import { tag } from "./asn1/tag.ts"
import { bitString, encode, sequence } from "./asn1/writer.ts"

/** Views on the octets that were read. */
export interface Signed {
  /** The DER that the signature is over. */
  readonly body: Uint8Array
  /** The DER of an AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array
  readonly signature: Uint8Array
}

export const assembleSigned = ({ body, signatureAlgorithm, signature }: Signed): Uint8Array =>
  encode(sequence([body, signatureAlgorithm, bitString(signature)]))

export function parseSigned(der: Uint8Array, document: string, bodyField: string): Signed {
  const reader = new DerReader(der, document)
  const signed = reader.sequence(document)
  reader.finish(document)
  const body = signed.whole(bodyField, tag.sequence)
  const signatureAlgorithm = readAlgorithmIdentifier(signed, "signatureAlgorithm")
  const signature = signed.bitString("signature")
  signed.finish(document)
  return { body, signatureAlgorithm, signature }
}

/** The DER of an AlgorithmIdentifier; whether the parameters suit the algorithm is left to who uses it. */
export function readAlgorithmIdentifier(reader: DerReader, field: string): Uint8Array {
  const der = reader.whole(field, tag.sequence)
  const algorithm = new DerReader(der, field).sequence(field)
  algorithm.oid("algorithm")
  if (!algorithm.done) algorithm.value("parameters")
  algorithm.finish(field)
  return der
}

/** The DER of a SubjectPublicKeyInfo; what the key is is left to who uses it. */
export function readSubjectPublicKeyInfo(reader: DerReader): Uint8Array {
  const der = reader.whole("subjectPublicKeyInfo", tag.sequence)
  const info = new DerReader(der, "subjectPublicKeyInfo").sequence("subjectPublicKeyInfo")
  readAlgorithmIdentifier(info, "algorithm")
  info.bitString("subjectPublicKey")
  info.finish("subjectPublicKeyInfo")
  return der
}

// Common structure of certificates, certification requests, CRLs and OCSP responses: body, algorithm, signature (RFC 5280, section
// 4.1.1).
import { DerReader } from "./asn1/reader.ts"
import { tag } from "./asn1/tag.ts"
import { bitString, encode, sequence } from "./asn1/writer.ts"

/** Arrays are views on the input. */
export interface Signed {
  /** Signed DER. */
  readonly body: Uint8Array
  /** AlgorithmIdentifier, DER. */
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

/** Returns the DER of an AlgorithmIdentifier. Does not check that the parameters fit the algorithm. */
export function readAlgorithmIdentifier(reader: DerReader, field: string): Uint8Array {
  const der = reader.whole(field, tag.sequence)
  const algorithm = new DerReader(der, field).sequence(field)
  algorithm.oid("algorithm")
  if (!algorithm.done) algorithm.value("parameters")
  algorithm.finish(field)
  return der
}

/** Returns the DER of a SubjectPublicKeyInfo. Does not check the key. */
export function readSubjectPublicKeyInfo(reader: DerReader): Uint8Array {
  const der = reader.whole("subjectPublicKeyInfo", tag.sequence)
  const info = new DerReader(der, "subjectPublicKeyInfo").sequence("subjectPublicKeyInfo")
  readAlgorithmIdentifier(info, "algorithm")
  info.bitString("subjectPublicKey")
  info.finish("subjectPublicKeyInfo")
  return der
}

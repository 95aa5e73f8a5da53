// CSR attributes of EST (RFC 7030, section 4.5.2; RFC 8951, section 3.2): the key type and the signature algorithm that a CSR should have.
import { oids } from "./asn1/oids.ts"
import { DerReader } from "./asn1/reader.ts"
import { type Der, encode, integer, objectIdentifier, sequence, setOf } from "./asn1/writer.ts"
import { curveOf } from "./curve.ts"
import type { KeyAlgorithm } from "./key-algorithm.ts"
import { chooseSignatureAlgorithm, signatureAlgorithmIdentifier } from "./signature-algorithm.ts"

/** Returns CsrAttrs, DER, that ask for a key of this algorithm. */
export function encodeCsrAttributes(key: KeyAlgorithm): Uint8Array {
  const algorithm = signatureAlgorithmIdentifier(chooseSignatureAlgorithm(key, { signatureBits: 0, usePss: false }))
  const signature = new DerReader(algorithm, "AlgorithmIdentifier").sequence("AlgorithmIdentifier").oid("algorithm")
  // The key and the signature of Ed25519 have the same identifier.
  return encode(sequence([keyAttribute(key), ...(key.type === "ed25519" ? [] : [objectIdentifier(signature)])]))
}

function keyAttribute(key: KeyAlgorithm): Der {
  switch (key.type) {
    case "rsa":
      return attribute(oids.rsaEncryption, integer(key.bits))
    case "ec":
      return attribute(oids.ecPublicKey, objectIdentifier(curveOf(key.bits).oid))
    default:
      return objectIdentifier(oids.ed25519)
  }
}

const attribute = (type: string, value: Der): Der => sequence([objectIdentifier(type), setOf([value])])

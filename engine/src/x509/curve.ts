// The curves of RFC 5480, section 2.1.1.1, with their names in OpenSSL and ASN.1.
import { createECDH, type ECDH } from "node:crypto"
import { oids } from "./asn1/oids.ts"
import type { CurveBits } from "./key-algorithm.ts"

export interface Curve {
  readonly bits: CurveBits
  readonly oid: string
  /** Octets of a coordinate, and of a private key (RFC 5915, section 3). */
  readonly octets: number
  /** Shared by all uses of the curve, because setting up its group costs a quarter of a key generation. */
  readonly ecdh: ECDH
}

const curve = (bits: CurveBits, oid: string, name: string): Curve => ({
  bits,
  oid,
  octets: Math.ceil(bits / 8),
  ecdh: createECDH(name),
})

const curves: Readonly<Record<CurveBits, Curve>> = {
  224: curve(224, oids.secp224r1, "secp224r1"),
  256: curve(256, oids.prime256v1, "prime256v1"),
  384: curve(384, oids.secp384r1, "secp384r1"),
  521: curve(521, oids.secp521r1, "secp521r1"),
}

export const curveOf = (bits: CurveBits): Curve => curves[bits]

export const findCurve = (oid: string): Curve | undefined => Object.values(curves).find((curve) => curve.oid === oid)

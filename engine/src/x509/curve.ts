// The curves of RFC 5480, section 2.1.1.1, as OpenSSL and ASN.1 call them.
import { createECDH, type ECDH } from "node:crypto"
import { oids } from "./asn1/oids.ts"
import type { CurveBits } from "./key-algorithm.ts"

export interface Curve {
  readonly bits: CurveBits
  readonly oid: string
  /** Of a coordinate, and of a private key (RFC 5915, section 3). */
  readonly octets: number
  /** One for every use of the curve: setting up its group costs a quarter of making a key. */
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

/** The octets of a CRLNumber. */
export function magnitude(number: number): Uint8Array {
  const octets = Buffer.alloc(8)
  octets.writeBigUInt64BE(BigInt(number))
  return octets
}

import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto"
import { assembleCertificationRequest, encodeCertificationRequestInfo } from "../x509/certification-request.ts"
import type { Extension } from "../x509/extension.ts"
import { encodeName } from "../x509/name.ts"
import { writePem } from "../x509/pem.ts"
import { signatureAlgorithmIdentifier } from "../x509/signature-algorithm.ts"

/** An RSA key of these primes, weak or not. */
export function rsaKeyOf(p: bigint, q: bigint, e = 65_537n): KeyObject {
  const d = inverse(e, (p - 1n) * (q - 1n))
  const numbers = { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q % p, p) }
  const members = Object.entries(numbers).map(([name, number]) => [name, base64url(number)])
  return createPrivateKey({ key: { kty: "RSA", ...Object.fromEntries(members) }, format: "jwk" })
}

export const pkcs8Of = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" })

/** In PEM, signed with the key. */
export function csrSignedBy(key: KeyObject, extensions: readonly Extension[] = []): string {
  const spki = createPublicKey(key).export({ type: "spki", format: "der" })
  const info = encodeCertificationRequestInfo({ subject: encodeName([]), subjectPublicKeyInfo: spki, extensions })
  const der = assembleCertificationRequest(
    info,
    signatureAlgorithmIdentifier("SHA256WithRSA"),
    sign("sha256", info, key),
  )
  return writePem("CERTIFICATE REQUEST", der)
}

function base64url(number: bigint): string {
  const digits = number.toString(16)
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex").toString("base64url")
}

function inverse(number: bigint, modulus: bigint): bigint {
  let [previous, current] = [modulus, number % modulus]
  let [before, after] = [0n, 1n]
  while (current > 1n) {
    const quotient = previous / current
    ;[previous, current] = [current, previous - quotient * current]
    ;[before, after] = [after, before - quotient * after]
  }
  return ((after % modulus) + modulus) % modulus
}

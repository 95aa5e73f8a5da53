import {
  type KeyAlgorithm,
  keyAlgorithm,
  type KeyGenerator,
  keyGenerator,
  pooledRsaKeys,
  type PrivateKey,
} from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"
import { readSigningRequest } from "./csr.ts"
import type { StoredCertificate } from "./stored-certificate.ts"

const types = { RSA: "rsa", ECDSA: "ec", Ed25519: "ed25519" } as const

/** Returns undefined for an unknown size; the schema admits none. */
export const wantedKey = ({ algorithm, size = 0 }: CertificateSpec["privateKey"]): KeyAlgorithm | undefined =>
  keyAlgorithm(types[algorithm], size)

export const isWantedKey = (wanted: KeyAlgorithm | undefined, found: KeyAlgorithm): boolean =>
  wanted !== undefined &&
  wanted.type === found.type &&
  (wanted.type === "ed25519" || (found.type !== "ed25519" && wanted.bits === found.bits))

/** Returns whether a certificate has the key that the spec describes: of its algorithm and size, or that of its CSR. */
export function isKeyOf(
  { csr, keySource, privateKey: wanted }: CertificateSpec,
  { privateKey, leaf }: Pick<StoredCertificate, "privateKey" | "leaf">,
): boolean {
  if (csr !== undefined) return Buffer.compare(readSigningRequest(csr).publicKey.spki, leaf.subjectPublicKeyInfo) === 0
  return privateKey !== undefined && (keySource === "Engine" || isWantedKey(wantedKey(wanted), privateKey.algorithm))
}

/** Returns the content of `tls.key`. */
export const keyPem = (key: PrivateKey, { encoding }: Pick<CertificateSpec["privateKey"], "encoding">): string =>
  key.pem(encoding === "PKCS1" ? "traditional" : "pkcs8")

export const keysOfThisProcess: KeyGenerator = keyGenerator(pooledRsaKeys)

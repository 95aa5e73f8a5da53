import {
  type KeyAlgorithm,
  keyAlgorithm,
  type KeyGenerator,
  keyGenerator,
  pooledRsaKeys,
  type PrivateKey,
} from "@chancery/engine/x509"
import type { CertificateSpec } from "../../api/certificate.ts"

const types = { RSA: "rsa", ECDSA: "ec", Ed25519: "ed25519" } as const

/** Returns undefined for an unknown size; the schema admits none. */
export const wantedKey = ({ algorithm, size = 0 }: CertificateSpec["privateKey"]): KeyAlgorithm | undefined =>
  keyAlgorithm(types[algorithm], size)

export const isWantedKey = (wanted: KeyAlgorithm | undefined, found: KeyAlgorithm): boolean =>
  wanted !== undefined &&
  wanted.type === found.type &&
  (wanted.type === "ed25519" || (found.type !== "ed25519" && wanted.bits === found.bits))

/** Returns the content of `tls.key`. */
export const keyPem = (key: PrivateKey, { encoding }: Pick<CertificateSpec["privateKey"], "encoding">): string =>
  key.pem(encoding === "PKCS1" ? "traditional" : "pkcs8")

export const keysOfThisProcess: KeyGenerator = keyGenerator(pooledRsaKeys)

// Reads key and certificate from a Secret, and reports why they are unusable.
import {
  type Certificate,
  type ExtensionValues,
  parseCertificate,
  parseExtensionValues,
  type PrivateKey,
  readPem,
  readPrivateKeyPem,
  serialNumberOf,
  sha256,
  UnacceptableInput,
} from "@chancery/engine/x509"
import type { KubernetesObject } from "../../kube/kubernetes-object.ts"

export interface StoredCertificate {
  /** Undefined if the key is elsewhere, for a certificate of a CSR. */
  readonly privateKey: PrivateKey | undefined
  /** DER, leaf first. */
  readonly chain: readonly Uint8Array[]
  /** DER: the trust anchors of the chain, the topmost last. May be empty. */
  readonly authorities: readonly Uint8Array[]
  readonly leaf: Certificate
  readonly values: ExtensionValues
  readonly serialNumber: string
}

export type StoredCertificateState =
  | { readonly is: "missing" }
  /** A key of the Secret is missing or cannot be parsed. `problem` completes a sentence about the Secret. */
  | { readonly is: "incomplete"; readonly problem: string }
  | { readonly is: "mismatched" }
  | ({ readonly is: "whole" } & StoredCertificate)

/** Secrets are limited to 1 MiB. */
const maxPem = 1024 * 1024

/** `isKeyElsewhere`: the Secret is for a certificate of a CSR, and needs no key. */
export function storedIn(
  secret: KubernetesObject | undefined,
  { isKeyElsewhere = false }: { readonly isKeyElsewhere?: boolean } = {},
): StoredCertificateState {
  if (secret === undefined) return { is: "missing" }
  const text = (key: string) => textOf(secret, key)
  const [key, chain] = [text("tls.key"), text("tls.crt")]
  const isKeyMissing = key === "" && !isKeyElsewhere
  if (isKeyMissing || chain === "")
    return { is: "incomplete", problem: `has no value for ${isKeyMissing ? "tls.key" : "tls.crt"}` }
  let reading = "tls.key"
  try {
    const privateKey = isKeyElsewhere ? undefined : readPrivateKeyPem(key, maxPem)
    reading = "tls.crt"
    const certificates = certificatesIn(chain)
    reading = "ca.crt"
    return readStoredCertificate(privateKey, certificates, certificatesIn(text("ca.crt")))
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    return { is: "incomplete", problem: `has an unreadable value for ${reading}` }
  }
}

/** Throws `UnacceptableInput` if a certificate cannot be parsed. */
export function readStoredCertificate(
  privateKey: PrivateKey | undefined,
  chain: readonly Uint8Array[],
  authorities: readonly Uint8Array[],
): Exclude<StoredCertificateState, { readonly is: "missing" }> {
  const [first] = chain
  if (first === undefined) return { is: "incomplete", problem: "has no certificate in tls.crt" }
  const leaf = parseCertificate(first)
  // Public keys are equal if and only if their SPKI encodings are. The private key's is canonical.
  if (privateKey !== undefined && Buffer.compare(privateKey.publicKey.spki, leaf.subjectPublicKeyInfo) !== 0)
    return { is: "mismatched" }
  return {
    is: "whole",
    privateKey,
    chain,
    authorities,
    leaf,
    values: parseExtensionValues(leaf.extensions),
    serialNumber: serialNumberOf(leaf.serialNumber) ?? "",
  }
}

/** Returns the DER of each certificate. Throws `UnacceptableInput` if the text is not PEM. */
export const certificatesIn = (pem: string): readonly Uint8Array[] =>
  readPem(pem, maxPem).flatMap(({ label, bytes }) => (label === "CERTIFICATE" ? [bytes] : []))

/** Returns the text under a key of the Secret, or an empty string. */
export function textOf(object: KubernetesObject, key: string): string {
  const encoded = (object["data"] as Readonly<Record<string, string>> | undefined)?.[key] ?? ""
  return Buffer.from(encoded, "base64").toString("utf8")
}

/** Returns whether the certificate is a root. A root that the previous root signed has the name of its issuer, but another key. */
export const isSelfIssued = (der: Uint8Array): boolean => {
  const { issuer, subject, extensions } = parseCertificate(der)
  if (Buffer.compare(issuer, subject) !== 0) return false
  const { authorityKeyIdentifier: { keyIdentifier } = {}, subjectKeyIdentifier } = parseExtensionValues(extensions)
  if (keyIdentifier === undefined || subjectKeyIdentifier === undefined) return true
  return Buffer.compare(keyIdentifier, subjectKeyIdentifier) === 0
}

export const fingerprint = (der: Uint8Array): string => sha256(der)

// What a Secret holds: a key and a certificate that belong together, or why it does not.
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

export interface HeldCertificate {
  readonly privateKey: PrivateKey
  /** DER; the leaf first. */
  readonly chain: readonly Uint8Array[]
  /** DER; what the chain ends at, the highest last. May be empty. */
  readonly authorities: readonly Uint8Array[]
  readonly leaf: Certificate
  readonly values: ExtensionValues
  readonly serialNumber: string
}

export type Held =
  | { readonly is: "missing" }
  /** A key of the Secret is missing, or cannot be read; the sentence says which. */
  | { readonly is: "incomplete"; readonly problem: string }
  | { readonly is: "mismatched" }
  | ({ readonly is: "whole" } & HeldCertificate)

/** Secrets are at most a mebibyte. */
const pemMaximum = 1024 * 1024

export function heldIn(secret: KubernetesObject | undefined): Held {
  if (secret === undefined) return { is: "missing" }
  const text = (key: string) => textOf(secret, key)
  const [key, chain] = [text("tls.key"), text("tls.crt")]
  if (key === "" || chain === "")
    return { is: "incomplete", problem: `has nothing under ${key === "" ? "tls.key" : "tls.crt"}` }
  let reading = "tls.key"
  try {
    const privateKey = readPrivateKeyPem(key, pemMaximum)
    reading = "tls.crt"
    const certificates = certificatesIn(chain)
    reading = "ca.crt"
    return heldOf(privateKey, certificates, certificatesIn(text("ca.crt")))
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    return { is: "incomplete", problem: `has nothing that can be read under ${reading}` }
  }
}

/** `UnacceptableInput` for what is no certificate. */
export function heldOf(
  privateKey: PrivateKey,
  chain: readonly Uint8Array[],
  authorities: readonly Uint8Array[],
): Exclude<Held, { readonly is: "missing" }> {
  const [first] = chain
  if (first === undefined) return { is: "incomplete", problem: "has no certificate under tls.crt" }
  const leaf = parseCertificate(first)
  // Two keys are the same if and only if these octets are; that of the private key is known to be a good one.
  if (Buffer.compare(privateKey.publicKey.spki, leaf.subjectPublicKeyInfo) !== 0) return { is: "mismatched" }
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

/** DER of each. `UnacceptableInput` for text that is none. */
export const certificatesIn = (pem: string): readonly Uint8Array[] =>
  readPem(pem, pemMaximum).flatMap(({ label, bytes }) => (label === "CERTIFICATE" ? [bytes] : []))

/** What a key of a Secret holds; empty where there is nothing. */
export function textOf(object: KubernetesObject, key: string): string {
  const encoded = (object["data"] as Readonly<Record<string, string>> | undefined)?.[key] ?? ""
  return Buffer.from(encoded, "base64").toString("utf8")
}

export const isSelfIssued = (der: Uint8Array): boolean => {
  const { issuer, subject } = parseCertificate(der)
  return Buffer.compare(issuer, subject) === 0
}

export const fingerprint = (der: Uint8Array): string => sha256(der)

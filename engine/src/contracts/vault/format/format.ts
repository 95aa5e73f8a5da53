// Formats of certificates and keys: PEM, DER in base64, or one PEM bundle with the key and the chain.
import { memoizeByIdentity } from "../../../core/memoize-by-identity.ts"
import { parseCertificate } from "../../../x509/certificate.ts"
import { sameName } from "../../../x509/name.ts"
import { writePem } from "../../../x509/pem.ts"
import type { PrivateKey } from "../../../x509/private-key.ts"
import type { Dialect } from "./dialect.ts"

export const formats = ["pem", "der", "pem_bundle"] as const
export type Format = (typeof formats)[number]

export const privateKeyFormats = ["der", "pkcs8"] as const
type WirePrivateKeyFormat = (typeof privateKeyFormats)[number]

export interface Encoding {
  readonly format: Format
  readonly privateKeyFormat: WirePrivateKeyFormat
}

/** Returns the requested encoding. Default: PEM, with keys in the traditional structure of their type. */
export const encodingOf = (given: { readonly [Name in keyof Encoding]: Encoding[Name] | undefined }): Encoding => ({
  format: given.format ?? "pem",
  privateKeyFormat: given.privateKeyFormat ?? "der",
})

/** Encodes a certificate. With `pem_bundle` it is PEM, as all other members of the answer are. */
export const encodeCertificate = (der: Uint8Array, as: Format): string =>
  as === "der" ? base64(der) : writePem("CERTIFICATE", der)

/** Encodes a CA certificate. Its PEM is cached, because many answers contain it. */
export const encodeAuthority = (der: Uint8Array, as: Format): string => (as === "der" ? base64(der) : authorityPem(der))

const authorityPem = memoizeByIdentity((der: Uint8Array) => writePem("CERTIFICATE", der))

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

/**
 * Encodes a private key. `der` is the usual form for the key type. `pkcs8` is PEM in the native dialect, whatever the format; in the vault
 * dialect it is DER with `format` `der` (docs/dialects.md).
 */
export function encodePrivateKey(key: PrivateKey, { format: as, privateKeyFormat: form }: Encoding, dialect: Dialect) {
  const structure = form === "pkcs8" ? "pkcs8" : "traditional"
  const isPem = as !== "der" || (form === "pkcs8" && dialect === "native")
  return isPem ? key.pem(structure) : base64(key.der(structure))
}

/** Returns key, certificate and chain in PEM, without self-issued certificates, which clients have already. */
export const encodeBundle = (
  certificate: Uint8Array,
  chain: readonly Uint8Array[],
  privateKey: PrivateKey | undefined,
): string =>
  [
    ...(privateKey === undefined ? [] : [privateKey.pem("traditional")]),
    writePem("CERTIFICATE", certificate),
    // The chain of an authority begins with itself.
    ...chain.filter((der) => der !== certificate && !isSelfIssued(der)).map(authorityPem),
  ].join("\n")

const isSelfIssued = memoizeByIdentity((der: Uint8Array): boolean => {
  const { issuer, subject } = parseCertificate(der)
  return sameName(issuer, subject)
})

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

/** PEM, with keys in the form that is usual for them, unless more is said. */
export const encodingOf = (given: { readonly [Name in keyof Encoding]: Encoding[Name] | undefined }): Encoding => ({
  format: given.format ?? "pem",
  privateKeyFormat: given.privateKeyFormat ?? "der",
})

/** A bundle's other members are PEM. */
export const encodeCertificate = (der: Uint8Array, as: Format): string =>
  as === "der" ? base64(der) : writePem("CERTIFICATE", der)

/** The same, for certificates that are handed out again and again. */
export const encodeAuthority = (der: Uint8Array, as: Format): string => (as === "der" ? base64(der) : authorityPem(der))

const authorityPem = memoizeByIdentity((der: Uint8Array) => writePem("CERTIFICATE", der))

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

/**
 * Encodes a private key. `der` is the usual form for the key type. `pkcs8` is PEM in the native dialect, whatever the format; in the
 * vault dialect it is DER with `format` `der` (docs/dialects.md).
 */
export function encodePrivateKey(key: PrivateKey, { format: as, privateKeyFormat: form }: Encoding, dialect: Dialect) {
  const structure = form === "pkcs8" ? "pkcs8" : "traditional"
  const isPem = as !== "der" || (form === "pkcs8" && dialect === "native")
  return isPem ? key.pem(structure) : base64(key.der(structure))
}

/** Key, certificate and whatever leads to the root, which clients have already. */
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

import { writePem } from "@chancery/engine/x509"

/** Returns the certificates (DER) as PEM, one after the other. */
export const pemOf = (certificates: readonly Uint8Array[]): string =>
  certificates.map((der) => `${writePem("CERTIFICATE", der)}\n`).join("")

/** Returns the base64 of PEM, as members of type `bytes` have it. */
export const base64Pem = (certificates: readonly Uint8Array[]): string =>
  Buffer.from(pemOf(certificates)).toString("base64")

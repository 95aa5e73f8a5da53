// Certificate that a revocation request names: by serial number, or as a whole certificate.
import { invalid, unprocessable } from "../../core/errors.ts"
import { type Certificate, parseCertificate } from "../../x509/certificate.ts"
import { sameName } from "../../x509/name.ts"
import { readPem } from "../../x509/pem.ts"
import { readPrivateKeyPem } from "../../x509/private-key.ts"
import { isSamePublicKey, readPublicKey } from "../../x509/public-key.ts"
import { parseSerialNumber, type SerialNumber, serialNumberOf } from "../../x509/serial-number.ts"
import { isSignedBy } from "../../x509/signature.ts"
import { UnacceptableInput } from "../../x509/unacceptable-input.ts"
import type { RevocationReason } from "../../x509/certificate-list.ts"
import type { ParsedIssuer } from "../issuers/parsed-issuer.ts"
import { parseRevocationReason, revocationReasonNames, type RevokeInput } from "./revocation.ts"

export type RevocationTarget =
  | { readonly serialNumber: SerialNumber; readonly certificate: undefined }
  | { readonly serialNumber: SerialNumber; readonly certificate: Certificate }

const maxCertificateLength = 64 * 1_024
const maxKeyLength = 64 * 1_024

/** Returns the certificate that the input names. Throws `unprocessable` or `invalid`. */
export function revocationTarget({ serialNumber = "", certificate = "" }: RevokeInput): RevocationTarget {
  if (serialNumber === "" && certificate === "")
    throw unprocessable("The serial number or certificate to revoke must be provided.")
  if (serialNumber !== "" && certificate !== "")
    throw unprocessable("Must provide either the certificate or the serial to revoke; not both.")
  if (certificate !== "") return targetOfCertificate(certificate)
  const parsed = parseSerialNumber(serialNumber)
  if (parsed === undefined)
    throw refused("serialNumber", "must be hexadecimal octets joined by colons or hyphens, at most 20")
  return { serialNumber: parsed, certificate: undefined }
}

export function parseReason(text: string | undefined): RevocationReason {
  if (text === undefined || text === "") return "unspecified"
  const reason = parseRevocationReason(text)
  if (reason === undefined)
    throw refused("reason", `must be one of ${revocationReasonNames.join(", ")}: a revocation cannot be undone`)
  return reason
}

function targetOfCertificate(pem: string): RevocationTarget {
  try {
    const [block, ...others] = readPem(pem, maxCertificateLength)
    if (block?.label !== "CERTIFICATE" || others.length > 0)
      throw new UnacceptableInput("expected one PEM block with the label CERTIFICATE")
    const certificate = parseCertificate(block.bytes)
    const serialNumber = serialNumberOf(certificate.serialNumber)
    if (serialNumber === undefined) throw new UnacceptableInput("its serial number is zero or too long")
    return { serialNumber, certificate }
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused("certificate", `the certificate could not be parsed: ${error.message}`)
  }
}

/** Returns the issuer of a certificate. Throws `unprocessable` if no issuer of the mount signed it. */
export function issuerOfCertificate(certificate: Certificate, issuers: readonly ParsedIssuer[]): ParsedIssuer {
  const { tbsCertificate: data, signatureAlgorithm: algorithm, signature } = certificate
  const found = issuers.find((issuer) => {
    if (!sameName(issuer.parsed.subject, certificate.issuer)) return false
    try {
      return isSignedBy(issuer.publicKey, { data, algorithm, signature })
    } catch (error) {
      // The key is of another type, or the algorithm is not accepted.
      if (!(error instanceof UnacceptableInput)) throw error
      return false
    }
  })
  if (found === undefined)
    throw unprocessable(
      "unable to verify signature on presented cert from any present issuer in this mount; certificates from previous CAs will need to have their issuing CA and key re-imported if revocation is necessary",
    )
  return found
}

/** Throws `invalid` or `unprocessable` unless the private key belongs to the certificate. Only public keys are compared. */
export function rejectOtherKey(privateKey: string | undefined, subjectPublicKeyInfo: Uint8Array): void {
  if (privateKey === undefined || privateKey === "")
    throw unprocessable("Must have private key to revoke via the /revoke-with-key path.")
  let key
  try {
    key = readPrivateKeyPem(privateKey, maxKeyLength)
  } catch (error) {
    if (!(error instanceof UnacceptableInput)) throw error
    throw refused("privateKey", `the private key could not be parsed: ${error.message}`)
  }
  const certificateKey = readPublicKey(subjectPublicKeyInfo)
  if (key.publicKey.algorithm.type !== certificateKey.algorithm.type)
    throw unprocessable("provided private key type does not match certificate's public key type")
  if (!isSamePublicKey(key.publicKey, certificateKey))
    throw unprocessable("provided private key does not match certificate's public key")
}

const refused = (name: keyof RevokeInput | "privateKey", detail: string) => invalid([{ field: [name], detail }])

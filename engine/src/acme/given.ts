// What clients hand in, read and checked as far as it speaks for itself.
import { formatIpAddress, parseIpAddress } from "../pki/names/ip-address.ts"
import { valuesOf } from "../pki/names/subject.ts"
import { oids } from "../x509/asn1/oids.ts"
import { type Certificate, parseCertificate } from "../x509/certificate.ts"
import { parseCertificationRequest } from "../x509/certification-request.ts"
import { parseExtensionValues } from "../x509/extensions.ts"
import { readPublicKey } from "../x509/public-key.ts"
import { serialNumberOf } from "../x509/serial-number.ts"
import { isSignedBy } from "../x509/signature.ts"
import { assertStrongKey } from "../x509/weak-rsa.ts"
import { UnacceptableInput } from "../x509/unacceptable-input.ts"
import { distinctIdentifiers, type Identifier, readIdentifier } from "./identifier.ts"
import { AcmeProblem, malformed } from "./problem.ts"

export type ReadCsr = ReturnType<typeof readCsr>

const csrOctetsMaximum = 64 * 1_024

/** Throws `badCSR`. */
export function readCsr(der: Uint8Array) {
  const refuse = (detail: string) => new AcmeProblem("badCSR", detail)
  if (der.length > csrOctetsMaximum) throw refuse("The CSR is too long.")
  try {
    const parsed = parseCertificationRequest(der)
    const key = assertStrongKey(readPublicKey(parsed.subjectPublicKeyInfo))
    const { certificationRequestInfo: data, signatureAlgorithm: algorithm, signature } = parsed
    if (!isSignedBy(key, { data, algorithm, signature })) throw refuse("The CSR is not signed by its own key.")
    return { parsed, key }
  } catch (error) {
    if (error instanceof UnacceptableInput) throw refuse(`The CSR cannot be taken: ${error.message}.`)
    throw error
  }
}

/** The refusal of a key that must not be certified. */
export const badCsrKey = (problem: string) => new AcmeProblem("badCSR", `The CSR is refused: ${problem}.`)

export function readGiven(der: Uint8Array) {
  try {
    const parsed = parseCertificate(der)
    const serialNumber = serialNumberOf(parsed.serialNumber)
    if (serialNumber === undefined) throw malformed("The certificate's serial number is zero or too long.")
    return { parsed, serialNumber }
  } catch (error) {
    if (error instanceof UnacceptableInput) throw malformed(`The certificate cannot be read: ${error.message}.`)
    throw error
  }
}

/** Returns whether a certificate names the key as its issuer's (RFC 9773, section 4.1). */
export function isIssuedByKey(der: Uint8Array, keyIdentifier: Uint8Array): boolean {
  const { authorityKeyIdentifier } = parseExtensionValues(parseCertificate(der).extensions)
  const own = authorityKeyIdentifier?.keyIdentifier
  return own !== undefined && Buffer.compare(own, keyIdentifier) === 0
}

/** Returns the identifiers of a certificate; undefined where it names anything that no authorization proves, or nothing. */
export function identifiersOf({ extensions, subjectName }: Certificate): readonly Identifier[] | undefined {
  const { subjectAltName = [], basicConstraints } = parseExtensionValues(extensions)
  if (basicConstraints?.isCa === true) return undefined
  const commonNames = valuesOf(subjectName, oids.commonName).filter((name) => name !== "")
  try {
    const identifiers = [
      ...subjectAltName.map((name) => {
        if (name.kind === "dns") return readIdentifier("dns", name.value)
        return readIdentifier("ip", name.kind === "ip" ? formatIpAddress(name.octets) : undefined)
      }),
      ...commonNames.map((name) => readIdentifier(parseIpAddress(name) === undefined ? "dns" : "ip", name)),
    ]
    return identifiers.length === 0 ? undefined : distinctIdentifiers(identifiers)
  } catch (error) {
    if (error instanceof AcmeProblem) return undefined
    throw error
  }
}

// What clients hand in, read and checked as far as it speaks for itself.
import { readPublicKey } from "../x509/public-key.ts"
import { parseCertificate } from "../x509/certificate.ts"
import { parseCertificationRequest } from "../x509/certification-request.ts"
import { serialNumberOf } from "../x509/serial-number.ts"
import { isSignedBy } from "../x509/signature.ts"
import { assertStrongKey } from "../x509/weak-rsa.ts"
import { UnacceptableInput } from "../x509/unacceptable-input.ts"
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

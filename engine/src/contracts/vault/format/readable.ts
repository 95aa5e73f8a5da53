import { readCertificatePem } from "../../../x509/certificate-pem.ts"
import { UnacceptableInput } from "../../../x509/unacceptable-input.ts"
import { unreadable } from "./parameters.ts"

/** Reads a part of an answer. Throws `unavailable` if its content is not acceptable. */
export function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof UnacceptableInput ? unreadable(error.message) : error
  }
}

/** Returns DER. Throws `unavailable` if the text is not a certificate. */
export const readableCertificate = (pem: string): Uint8Array => readable(() => readCertificatePem(pem))

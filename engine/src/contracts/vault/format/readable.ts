import { readCertificatePem } from "../../../x509/certificate-pem.ts"
import { UnacceptableInput } from "../../../x509/unacceptable-input.ts"
import { unreadable } from "./parameters.ts"

/** What an answer holds, read; throws `unavailable` where it is not what it should be. */
export function readable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof UnacceptableInput ? unreadable(error.message) : error
  }
}

/** DER. */
export const readableCertificate = (pem: string): Uint8Array => readable(() => readCertificatePem(pem))

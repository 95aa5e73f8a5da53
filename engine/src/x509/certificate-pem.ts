import { readPem } from "./pem.ts"
import { UnacceptableInput } from "./unacceptable-input.ts"

/** Certificates that Chancery issues are below 2 KiB. Those with a key of 16,384 bits and many names are a few times as long. */
const maxLength = 256 * 1024

/** Returns the DER of the one certificate in the text. Throws `UnacceptableInput` for anything else. */
export function readCertificatePem(text: string): Uint8Array {
  const blocks = readPem(text, maxLength)
  const [block] = blocks
  if (block === undefined || blocks.length > 1)
    throw new UnacceptableInput(`${blocks.length} certificates found in PEM file, expected 1`)
  if (block.label !== "CERTIFICATE")
    throw new UnacceptableInput(`The PEM text contains a block "${block.label}" where a certificate is expected`)
  return block.bytes
}

import { UnacceptableInput } from "../unacceptable-input.ts"

/** The bytes are not the expected DER. The message names the document, the field and the broken rule. */
export class MalformedDer extends UnacceptableInput {
  /** Structure that was read: `certificate`, `subjectAltName`. */
  readonly document: string
  /** Field name in the ASN.1 module: `notBefore`. */
  readonly field: string
  /** Offset from the first octet of the document. */
  readonly offset: number

  constructor(document: string, field: string, problem: string, offset: number) {
    super(`${document}: ${field} ${problem} (byte ${offset})`)
    this.name = "MalformedDer"
    this.document = document
    this.field = field
    this.offset = offset
  }
}

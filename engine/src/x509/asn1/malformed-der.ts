import { UnacceptableInput } from "../unacceptable-input.ts"

/** Bytes that are not the DER that was asked for. The message names the document, the field and the rule it breaks. */
export class MalformedDer extends UnacceptableInput {
  /** What was being read: `certificate`, `subjectAltName`. */
  readonly document: string
  /** The field in the words of its ASN.1 module: `notBefore`. */
  readonly field: string
  /** From the first octet of the document. */
  readonly offset: number

  constructor(document: string, field: string, problem: string, offset: number) {
    super(`${document}: ${field} ${problem} (byte ${offset})`)
    this.name = "MalformedDer"
    this.document = document
    this.field = field
    this.offset = offset
  }
}

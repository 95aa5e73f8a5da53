// E-mail addresses as certificates hold them (RFC 5280, sections 4.2.1.6 and 7.5).
import { toAsciiHostName } from "./host-names.ts"

/** RFC 5321, section 4.5.3.1. */
const localPartMaximum = 64
const addressMaximum = 254
const dotAtom = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

/**
 * What an rfc822Name holds of the text: a mailbox with its domain in A-labels. Undefined for what is none, for a quoted
 * local part, and for one that is not ASCII, which has a type of name of its own (RFC 9598).
 */
export function toMailbox(text: string): string | undefined {
  const [localPart = "", domain, ...rest] = text.split("@")
  if (domain === undefined || rest.length > 0 || localPart.length > localPartMaximum || !dotAtom.test(localPart))
    return undefined
  const ascii = toAsciiHostName(domain)
  const mailbox = `${localPart}@${ascii}`
  return ascii === undefined || mailbox.length > addressMaximum ? undefined : mailbox
}
